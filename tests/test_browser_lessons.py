"""Lessons on the page, the trimmed page, and the projector view."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import serving
from tests.watching import SECONDS

HOSTILE = """---
title: `<img src=x onerror="document.title = 'taken'">`
recipe: {"messages": [{"role": "user", "content": "What is 4 + 5?"}]}
shows: steps >= 1
---

## `<script>document.title = "taken"</script>`

Write `<img src=x onerror="document.title = 'taken'">` and \\<b>bold\\</b>.
"""


@pytest.fixture
def lesson(page: Page, server_url: str) -> Iterator[Page]:
    """The page, opened by a link to a part of a lesson with a trimmed page; nothing may go wrong meanwhile."""
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.set_default_timeout(60 * SECONDS)
    page.goto(f"{server_url}#lesson=the-entropy-bound&part=2&trim")
    page.locator("#denoise[data-ready][data-model=ready]").wait_for()
    page.locator(".lesson:visible").wait_for()
    yield page
    assert wrong == []


def test_a_part_is_set_run_seen_and_checked(lesson: Page) -> None:
    expect(lesson.locator(".lesson h2")).to_have_text("A wide bound")
    expect(lesson.locator(".lesson-seen [data-done=false]")).to_have_count(1)
    lesson.get_by_role("button", name="Set it and run").click()
    lesson.locator("[data-why]:not([hidden])").wait_for(state="attached")
    expect(lesson.locator("#entropy-bound-value")).to_have_value("2")
    expect(lesson.locator(".lesson-seen [data-done=true]")).to_contain_text(
        re.compile(r"steps: at most 20 \(\d+ in this")
    )
    choices = lesson.locator(".lesson-choice")
    choices.nth(0).click()
    expect(lesson.locator(".lesson-answer")).to_contain_text("Look again")
    choices.nth(1).click()
    expect(lesson.locator(".lesson-answer")).to_contain_text("independently of each other")
    assert lesson.url.endswith("#lesson=the-entropy-bound&part=2&trim")


def test_a_trimmed_page_has_what_the_lesson_needs_and_can_be_had_whole(lesson: Page) -> None:
    for there in ("#prompt", "#rule", ".map", "#inspector .inspect >> nth=0", "#run"):
        expect(lesson.locator(there).first).to_be_visible()
    for gone in ("#t_max", "#mode", "#examples", "#limits", ".views", "#edits"):
        expect(lesson.locator(gone).first).to_be_hidden()
    lesson.get_by_role("button", name="Show the whole page").click()
    for there in ("#t_max", "#mode", "#examples", "#limits", "#figure", ".views"):
        expect(lesson.locator(there).first).to_be_visible()
    lesson.get_by_role("button", name="Close the lesson").click()
    expect(lesson.locator(".lesson")).to_be_hidden()
    expect(lesson).not_to_have_url(re.compile("#lesson"))


def test_every_lesson_of_the_list_opens(lesson: Page) -> None:
    lesson.get_by_role("button", name="Show the whole page").click()
    lesson.get_by_role("button", name="Lessons", exact=True).click()
    rows = lesson.locator(".lessons button")
    rows.first.wait_for()
    titles = lesson.locator(".lessons .run-prompt").all_inner_texts()
    assert len(titles) >= 5
    for at, title in enumerate(titles):
        if at:
            lesson.get_by_role("button", name="Lessons", exact=True).click()
        rows.nth(at).click()
        expect(lesson.locator(".lesson-name")).to_have_text(f"Lesson · {title}")


def test_the_projector_shows_canvas_and_timeline_alone(lesson: Page) -> None:
    lesson.get_by_role("button", name="Show the whole page").click()
    lane = lesson.locator(".lane[data-mode=diffusion]")
    small = lane.locator(".lane-text").evaluate("(text) => parseFloat(getComputedStyle(text).fontSize)")
    lesson.get_by_role("button", name="Projector", exact=True).click()
    for gone in ("#head", "#ask", "#inspector", "#controls", ".lane-head", ".legend", ".map", ".metrics", ".lesson"):
        expect(lesson.locator(gone).first).to_be_hidden()
    expect(lane.locator(".lane-text")).to_be_visible()
    expect(lane.locator(".timeline")).to_be_visible()
    large = lane.locator(".lane-text").evaluate("(text) => parseFloat(getComputedStyle(text).fontSize)")
    assert large >= 22 > small
    lesson.keyboard.press("Escape")
    expect(lesson.locator("#ask")).to_be_visible()


def test_what_a_lesson_writes_stays_text(page: Page, tmp_path: Path) -> None:
    """A server with a folder of lessons of one's own: one that means harm, and one with a mistake."""
    (tmp_path / "hostile.md").write_text(HOSTILE)
    (tmp_path / "script.md").write_text(HOSTILE + "\n<script>alert(1)</script>\n")
    with serving(PLAYGROUND_LESSONS=str(tmp_path)) as url:
        page.set_default_timeout(60 * SECONDS)
        page.goto(f"{url}#lesson=hostile")
        page.locator(".lesson:visible").wait_for()
        expect(page.locator(".lesson h2")).to_contain_text("<script>")
        expect(page.locator(".lesson-text code")).to_have_text("<img src=x onerror=\"document.title = 'taken'\">")
        expect(page.locator(".lesson-text").first).to_contain_text("<b>bold</b>")
        assert page.locator(".lesson img, .lesson script, .lesson b").count() == 0
        page.get_by_role("button", name="Lessons", exact=True).click()
        mistake = "script.md, line 11: '<script>alert(1)</script>' is markup"
        expect(page.locator(".menu-panel:visible")).to_contain_text(mistake)
        assert page.title() != "taken"
