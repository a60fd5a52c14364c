"""The gallery of recordings, on a server whose model cannot be loaded."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import serving
from tests.test_browser import SECONDS
from tests.test_browser_access import serious
from tests.test_browser_links import shared

RECORDED = Path(__file__).parents[1] / "static" / "recordings"
LARGE = "somebody/large-model"

LESSON = """---
title: What a large model wrote
recording: 3.jsonl
shows: steps >= 3
---

## Look at it

~~~seen
steps >= 3
~~~

## One token after the other

~~~recording
1.jsonl
~~~
"""


def recording(name: str, run: str, prompt: str) -> bytes:
    """A recording of the package under another name, as if made by another model on a GPU."""
    lines = []
    for line in (RECORDED / f"{name}.jsonl").read_text().splitlines():
        event = json.loads(line) | {"run": run}
        if event["type"] == "run_started":
            event |= {"device": "cuda:0", "model_revision": "fedcba9876543210"}
        if "recipe" in event:
            event["recipe"] |= {"model": LARGE, "messages": [{"role": "user", "content": prompt}]}
        lines.append(json.dumps(event))
    return "\n".join(lines).encode() + b"\n"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("recordings")
    for number, (name, prompt) in enumerate(
        [
            ("diffusion", "First <b>prompt</b>"),
            ("autoregressive", "Second"),
            *[("diffusion", f"More {n}") for n in "xyz"],
        ]
    ):
        (folder / f"{number}.jsonl").write_bytes(recording(name, f"run-{number}", prompt))
    (folder / "cut.jsonl").write_bytes((folder / "0.jsonl").read_bytes()[:5000])
    lessons = tmp_path_factory.mktemp("lessons")
    (lessons / "recorded.md").write_text(LESSON)
    (lessons / "lost.md").write_text(LESSON.replace("3.jsonl", "lost.jsonl"))
    with serving(
        "failed",
        PLAYGROUND_RECORDINGS=str(folder),
        PLAYGROUND_LESSONS=str(lessons),
        PLAYGROUND_MODEL="/no/such/folder",
    ) as address:
        yield address


def opened(page: Page, url: str) -> Page:
    page.set_default_timeout(60 * SECONDS)
    page.goto(url)
    page.locator("#denoise[data-ready][data-model=failed]").wait_for()
    page.locator(".gallery-open").first.wait_for()
    return page


def test_the_first_recording_plays_and_all_are_labelled(page: Page, url: str) -> None:
    opened(page, url)
    lane = page.locator(".lane[data-mode=diffusion]")
    expect(lane).to_have_attribute("data-run", "run-0")
    expect(lane.locator(".lane-message")).to_contain_text(f"A recording of {LARGE}, ")
    cards = page.locator(".gallery-open")
    expect(cards).to_have_count(5)
    expect(cards.nth(0)).to_have_attribute("aria-current", "true")
    expect(cards.nth(0)).to_contain_text("First <b>prompt</b>")
    expect(cards.nth(0)).to_contain_text("large-model · GPU")
    expect(cards.nth(0)).to_contain_text("Diffusion · ")
    expect(cards.nth(0)).to_contain_text(" steps · ")
    expect(cards.nth(1)).to_contain_text("AR · ")
    page.get_by_text("One file is not shown").click()
    expect(page.locator(".gallery-refused li")).to_contain_text("cut.jsonl, line ")


def test_another_one_is_opened_and_its_link_leads_to_it(page: Page, url: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, url)
    second = page.locator(".gallery-open").nth(1)
    second.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".lane[data-mode=autoregressive]:visible")).to_have_attribute("data-run", "run-1")
    expect(second).to_have_attribute("aria-current", "true")
    expect(page.locator(".gallery-open").first).not_to_have_attribute("aria-current", "true")
    expect(page.locator("#prompt textarea")).to_have_value("Second")
    link = shared(page)
    page.goto("about:blank")
    opened(page, link)
    expect(page.locator(".lane[data-mode=autoregressive]:visible")).to_have_attribute("data-run", "run-1")
    expect(page.locator(".gallery-open").nth(1)).to_have_attribute("aria-current", "true")
    page.goto("about:blank")
    opened(page, f"{url}r/run-3")
    expect(page.locator(".lane[data-mode=diffusion]:visible")).to_have_attribute("data-run", "run-3")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_axe_finds_nothing_serious(browser: Browser, url: str, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    try:
        page = opened(context.new_page(), url)
        page.get_by_text("One file is not shown").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert serious(page) == []
        last = page.locator(".gallery-open").last
        last.click()
        expect(last).to_have_attribute("aria-current", "true")
    finally:
        context.close()


def test_a_lesson_and_a_class_look_at_a_recording_and_it_is_called_one(browser: Browser, url: str) -> None:
    teacher, student = (opened(browser.new_context().new_page(), url) for _ in range(2))
    teacher.get_by_role("button", name="Room", exact=True).click()
    teacher.get_by_role("button", name="Open a room").click()
    code = teacher.locator(".room-big:visible").inner_text()
    teacher.keyboard.press("Escape")
    student.goto(f"{url}#room={code}")
    student.locator("#denoise[data-room=following]").wait_for()
    teacher.get_by_role("button", name="Lessons", exact=True).click()
    expect(teacher.locator("#menu-lessons")).to_contain_text("lost.md, line 3: there is no recording 'lost.jsonl'")
    teacher.locator(".lessons button", has_text="What a large model wrote").click()
    lane = ".lane[data-mode={}]"
    for part, mode, run in ((1, "diffusion", "run-3"), (2, "autoregressive", "run-1")):
        teacher.get_by_role("button", name="Show the recording").click()
        for page in (teacher, student):
            expect(page.locator(lane.format(mode))).to_have_attribute("data-run", run)
            expect(page.locator(f"{lane.format(mode)} .lane-message")).to_contain_text(f"A recording of {LARGE}, ")
            expect(page.locator("[data-source=recording]")).to_be_visible()
        if part == 1:
            expect(student.locator(".gallery")).to_be_hidden()
            expect(student.get_by_role("button", name="Look at the recording on your own")).to_be_visible()
            teacher.locator(f"{lane.format(mode)} .timeline").press("End")
            expect(teacher.locator(".lesson-seen [data-done=true]")).to_have_count(1)
            teacher.get_by_role("button", name="Next", exact=True).click()
    for page in (teacher, student):
        page.context.close()
