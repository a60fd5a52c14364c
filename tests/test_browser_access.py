"""The page for everybody: by keyboard, by touch, for screen readers, for the colour-blind."""

import importlib.resources
import io
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from tests.test_browser import STORY, SUM, finished, run
from tests.test_browser_lab import SPEC, as_json, new, start
from tests.watching import SECONDS, visit

MATRICES = {
    "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "deuteranopia": ((0.367, 0.861, -0.228), (0.28, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "tritanopia": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
    "achromatopsia": ((0.213, 0.715, 0.072),) * 3,
}
"""Machado, Oliveira and Fernandes (2009), severity 1; the last is luminance alone."""

APART = 0.018
"""The least mean difference between the pictures of two states, of 1."""


LISTEN = """() => {
  window.said = [];
  const speech = document.querySelector('[data-speech]');
  new MutationObserver(() => window.said.push(speech.textContent))
    .observe(speech, { childList: true, characterData: true, subtree: true });
}"""
"""Notes what is said to a screen reader."""


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> str:
    """Both themes."""
    return str(request.param)


@pytest.fixture
def opened(browser: Browser, server_url: str, scheme: str) -> Iterator[Page]:
    """The page in one of its themes, without movement."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 1000},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    yield ready(context.new_page(), server_url)
    context.close()


def ready(page: Page, url: str) -> Page:
    """Opens the page, with a run on it."""
    page.set_default_timeout(60 * SECONDS)
    visit(page, url)
    page.locator(".lane[data-run]").first.wait_for()
    return page


def serious(page: Page) -> list[Any]:
    """What axe holds against the page, minor things left out."""
    package = pytest.importorskip("axe_playwright_python", reason="axe is not installed")
    page.evaluate(importlib.resources.files(package).joinpath("axe.min.js").read_text())
    result = page.evaluate("axe.run(document)")
    assert len(result["passes"]) > 20
    return [
        (violation["impact"], violation["id"], [node["target"] for node in violation["nodes"]])
        for violation in result["violations"]
        if violation["impact"] in ("serious", "critical")
    ]


def test_axe_finds_nothing_serious(opened: Page) -> None:
    assert serious(opened) == []
    opened.get_by_text("Side by side").click()
    opened.locator("#start select").select_option("infill")
    opened.locator("#run").click()
    expect(opened.locator(".field-error").first).to_be_visible()
    assert serious(opened) == []
    opened.locator("#start select").select_option("noise")
    run(opened, SUM)
    finished(opened)
    opened.locator(".lane[data-mode=diffusion] .lane-text .t:visible").first.click()
    opened.locator("#edits .edit-text").fill("9")
    opened.get_by_role("button", name="Pin", exact=True).click()
    assert serious(opened) == []
    opened.get_by_role("button", name="Race", exact=True).click()
    opened.keyboard.press("End")
    for menu in ("Your runs", "Export"):
        opened.get_by_role("button", name=menu).click()
        assert serious(opened) == []


def test_axe_finds_nothing_serious_in_the_lab(opened: Page) -> None:
    opened.get_by_role("button", name="Lab", exact=True).click()
    opened.locator("#lab-sweep option").first.wait_for(state="attached")
    new(opened)
    opened.locator("#lab-entropy_bound").fill("0.1, much")
    expect(opened.locator("#lab-error")).to_be_visible()
    assert serious(opened) == []
    opened.locator("#lab-entropy_bound").fill("0.1")  # what is wrong in the form cannot be shown as JSON
    as_json(opened, SPEC)
    assert serious(opened) == []
    start(opened)
    expect(opened.locator("#lab .js-plotly-plot").first).to_be_visible()
    assert serious(opened) == []
    opened.locator(".lab-table tbody tr button").first.click()
    expect(opened.locator("#lab-point .lab-runs li")).to_have_count(4)
    assert serious(opened) == []


def test_states_are_told_apart_without_colour(opened: Page) -> None:
    marks = opened.locator(".lane[data-mode=diffusion] .legend .t")
    marks.evaluate_all("(words) => words.forEach((word) => { word.textContent = 'token'; })")
    names = [name.split("s-")[1] for name in marks.evaluate_all("(all) => all.map((t) => t.className)")]
    pictures = [np.asarray(Image.open(io.BytesIO(mark.screenshot())).convert("RGB")) / 255 for mark in marks.all()]
    height, width = (min(picture.shape[axis] for picture in pictures) for axis in (0, 1))
    for vision, matrix in MATRICES.items():
        seen = [np.clip(picture[:height, :width] @ np.array(matrix).T, 0, 1) for picture in pictures]
        for (one, left), (other, right) in itertools.combinations(zip(names, seen, strict=True), 2):
            assert np.abs(left - right).mean() > APART, f"{one} and {other} look alike with {vision}"


def test_everything_is_reached_by_keyboard(opened: Page) -> None:
    """From the first control to the last by Tab, all that can be used gets the focus, and shows it."""
    run(opened, SUM)
    finished(opened)
    opened.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    wanted = ["Your runs", "Open file", "Share", "Export", "Run", "Show noise", "By entropy", "Pin", "Renoise", "Copy"]
    seen: dict[str, bool] = {}
    for _ in range(90):
        opened.keyboard.press("Tab")
        name, visible = opened.evaluate(
            """() => {
              const element = document.activeElement;
              const style = getComputedStyle(element);
              const box = element.getBoundingClientRect();
              const marked = style.outlineStyle !== 'none' || style.boxShadow !== 'none';
              const name = element.getAttribute('aria-label') ?? element.textContent.trim().slice(0, 40);
              return [name, box.width > 0 && (marked || element.matches('input, textarea'))];
            }"""
        )
        if name in seen:
            continue
        seen[name] = visible
    missing = [name for name in wanted if name not in seen]
    assert missing == []
    assert [name for name, visible in seen.items() if name in wanted and not visible] == []
    assert any(name.startswith("Go on from") for name in seen)


def test_a_screen_reader_hears_little_and_enough(opened: Page) -> None:
    opened.evaluate(LISTEN)
    run(opened, STORY)
    finished(opened)
    said = opened.evaluate("window.said")
    assert said[0] == "The run has started."
    assert said[-1].startswith("Finished. ")
    assert len(said) == 2, "steps are not read out"


def test_by_touch_on_a_phone(browser: Browser, server_url: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    try:
        page = ready(context.new_page(), server_url)
        lane = page.locator(".lane[data-mode=diffusion]")
        lane.locator(".speed").select_option("null")
        page.locator("#prompt textarea").fill(SUM)
        page.locator("#run").tap()
        page.locator("[data-why]:visible").wait_for()
        first = lane.get_attribute("data-run")
        lane.locator(".lane-text [data-p='1']").tap()
        page.get_by_role("button", name="One position more").tap()
        expect(page.locator(".edit-where")).to_have_text("Positions 2–3")
        page.locator("#edits .edit-text").fill("9")
        page.get_by_role("button", name="Pin", exact=True).tap()
        page.locator("#edits .go").tap()
        expect(page.locator("#inspector .inspect").first).to_be_hidden()
        page.wait_for_function(f"document.querySelector('.lane[data-mode=diffusion]').dataset.run !== '{first}'")
        page.locator("[data-why]:visible").wait_for()
        expect(lane.locator(".lane-message")).to_contain_text("A fork of step")
        page.get_by_role("button", name="Race", exact=True).tap()
        expect(page.locator(".race-lead")).to_be_visible()
        page.get_by_role("button", name="Menu").tap()
        expect(page.locator("#tools .chip:visible")).to_have_count(7)
        page.get_by_role("button", name="Export").tap()
        expect(page.locator("#tools .chip:visible")).to_have_count(0)
        box = page.locator(".menu-panel:visible").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert box["y"] + box["height"] <= 844
        page.keyboard.press("Escape")
        expect(page.locator(".menu-panel:visible")).to_have_count(0)
        expect(page.get_by_role("button", name="Menu")).to_be_focused()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    finally:
        context.close()
