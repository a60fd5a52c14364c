"""Switching models at the page: everybody's page learns of it, what is on show and what was written stay."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import released
from tests.conftest import serving
from tests.test_browser import LONG, SUM, cancel, events, finished, run
from tests.watching import visit, watched

DRAFT = "What is 12 + 5?"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = released.save(tmp_path_factory.mktemp("checkpoints") / "second")
    with serving(PLAYGROUND_MODELS=f"{folder},no/such-model", HF_HUB_OFFLINE="1") as address:
        yield address


def test_the_model_is_switched_at_its_name(page: Page, browser: Browser, url: str) -> None:
    other = browser.new_page()
    with watched(page, url), watched(other, url):
        visit(page, url)
        visit(other, url)
        run(page, SUM)
        finished(page)
        shown = page.locator(".lane[data-mode=diffusion]").get_attribute("data-run")
        page.locator("#prompt textarea").fill(DRAFT)

        # Not while somebody runs something: the sentence stands in the menu, and nothing is lost.
        run(other, "Tell a long story about Mia the fox and a friend named Hugo.", speed="1")
        button = page.locator(".models > button")
        button.press("Enter")
        choices = page.locator(".model-choice")
        expect(choices).to_have_count(3)
        expect(choices.nth(0)).to_have_attribute("aria-current", "true")
        expect(choices.nth(0)).to_contain_text("in use")
        page.get_by_role("button", name="second").press("Enter")
        expect(page.locator(".model-progress")).to_contain_text("A run is going on")
        cancel(other)
        finished(other)

        page.get_by_role("button", name="second").click()
        for each in (page, other):
            expect(each.locator(".models > button")).to_have_text("second · CPU", timeout=LONG)
            expect(each.locator(".models > button")).to_have_attribute("data-model", "ready")
        expect(page.locator(".model-choice").nth(1)).to_have_attribute("aria-current", "true")
        expect(page.locator("[data-speech]")).to_have_text("The model is now second.")
        page.keyboard.press("Escape")
        expect(button).to_be_focused()
        assert page.locator(".lane[data-mode=diffusion]").get_attribute("data-run") == shown
        expect(page.locator("#prompt textarea")).to_have_value(DRAFT)
        expect(page.locator(".lane[data-mode=diffusion] .lane-message")).to_contain_text("This server has second now")
        expect(page.get_by_role("button", name="Longer text")).to_be_visible()
        expect(page.locator("#max_new_tokens input[type=range]")).to_have_attribute("max", str(16 * released.CANVAS))

        run(page, DRAFT)
        finished(page)
        started = events(page, url)[0]
        assert (started["recipe"]["model"], started["canvas_length"]) == ("second", released.CANVAS)
    other.close()


def test_one_that_is_not_there_leaves_the_one_in_use(page: Page, url: str) -> None:
    with watched(page, url):
        page.set_viewport_size({"width": 390, "height": 844})
        visit(page, url)
        button = page.locator(".models > button")
        before = button.text_content()
        button.click()
        page.get_by_role("button", name="no/such-model").click()
        expect(page.locator(".model-progress[data-kind=error]")).to_contain_text("is in use.", timeout=LONG)
        assert button.text_content() == before
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
