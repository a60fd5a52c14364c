"""Links, files and the list of one's own runs, with the real server, the embedded model and a store."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.test_browser import STORY, SUM, events, finished, run
from tests.watching import visit, watched

RECORDING = Path(__file__).parents[1] / "static" / "recordings" / "diffusion.jsonl"


@pytest.fixture(scope="module", autouse=True)
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The server of this module stores its runs."""
    before = os.environ["PLAYGROUND_STORE"]
    os.environ["PLAYGROUND_STORE"] = str(tmp_path_factory.mktemp("store") / "runs.sqlite")
    yield
    os.environ["PLAYGROUND_STORE"] = before


@pytest.fixture
def playground(page: Page, server_url: str) -> Iterator[Page]:
    """The page, open; nothing may go wrong meanwhile but what a test asks for."""
    with watched(page, server_url, console=False):
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        visit(page, server_url)
        yield page


def shared(page: Page) -> str:
    """The link that Share copies."""
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    link: str = page.evaluate("navigator.clipboard.readText()")
    return link


def state_of(page: Page, link: str) -> dict[str, Any]:
    """What a link says, as the page's own codec reads it."""
    script = """async (link) => {
      const { decode } = await import(new URL('page/run/hash.js', document.baseURI));
      const { Controls } = await import(new URL('page/prompt/controls.js', document.baseURI));
      const defaults = { seed: 0, max_new_tokens: 256,
        sampler: { name: 'entropy_bound', entropy_bound: 0.1, t_max: 0.8, t_min: 0.4, max_denoising_steps: 48,
                   confidence_threshold: 0.005, stability_threshold: 1 },
        decoding: { temperature: 1, top_k: 64, top_p: 0.95 } };
      return (await decode(new URL(link).hash, new Controls(defaults, {}).usual)).state;
    }"""
    state: dict[str, Any] = page.evaluate(script, link)
    return state


def bare(link: str, page: Page, changes: dict[str, str] | None = None) -> str:
    """The same link without its runs, as if the server had dropped them."""
    script = """async ([link, changes]) => {
      const { decode, encode } = await import(new URL('page/run/hash.js', document.baseURI));
      const { Controls } = await import(new URL('page/prompt/controls.js', document.baseURI));
      const defaults = { seed: 0, max_new_tokens: 256, sampler: { entropy_bound: 0.1 }, decoding: {} };
      defaults.sampler = { name: 'entropy_bound', entropy_bound: 0.1, t_max: 0.8, t_min: 0.4, max_denoising_steps: 48,
                           confidence_threshold: 0.005, stability_threshold: 1 };
      defaults.decoding = { temperature: 1, top_k: 64, top_p: 0.95 };
      const { usual } = new Controls(defaults, {});
      const { state } = await decode(new URL(link).hash, usual);
      return await encode({ ...state, runs: {}, at: undefined, ...changes }, usual);
    }"""
    without: str = page.evaluate(script, [link, changes or {}])
    return link.split("#")[0] + without


def pinned_run(page: Page) -> None:
    """A run, and a fork of it with a pin and a larger bound."""
    page.locator("#entropy-bound-value").fill("0.3")
    run(page, STORY)
    finished(page)
    page.locator(".lane[data-mode=diffusion] .timeline").focus()
    page.keyboard.press("Home")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    sixth = page.locator(".lane[data-mode=diffusion] .lane-text [data-p='6']")
    expect(sixth).to_have_count(1)  # the end of the run shows two canvases; the next frame shows the fourth step
    sixth.click()
    page.locator("#edits .edit-text").fill("purple")
    page.get_by_role("button", name="Pin", exact=True).click()
    before = page.locator(".lane[data-mode=diffusion]").get_attribute("data-run")
    page.locator("#edits .go").click()
    page.wait_for_function(f"document.querySelector('.lane[data-mode=diffusion]').dataset.run !== '{before}'")
    finished(page)


def test_a_recipe_with_edits_survives_link_page_run_trace_link(playground: Page, server_url: str) -> None:
    pinned_run(playground)
    first = events(playground, server_url)
    link = shared(playground)
    assert state_of(playground, link)["recipe"] == first[-1]["recipe"]
    visit(playground, bare(link, playground))
    expect(playground.locator(".lane[data-mode=diffusion] .lane-message")).to_contain_text("From a link: a recipe")
    expect(playground.locator("#prompt textarea")).to_have_value(STORY)
    expect(playground.locator("#entropy-bound-value")).to_have_value("0.3")
    expect(playground.locator("#start .edit-chip")).to_contain_text("purple")
    playground.locator("#run").click()
    playground.locator("#denoise[data-phase=running]").wait_for()
    finished(playground)
    second = events(playground, server_url)
    assert second[-1]["recipe"] == first[-1]["recipe"]
    assert second[-1]["text"] == first[-1]["text"]
    assert state_of(playground, shared(playground))["recipe"] == first[-1]["recipe"]


def test_a_link_to_a_stored_run_plays_it_at_its_step(playground: Page, server_url: str) -> None:
    pinned_run(playground)
    playground.locator(".lane[data-mode=diffusion] .timeline").focus()
    playground.keyboard.press("Home")
    for _ in range(7):
        playground.keyboard.press("ArrowRight")
    playground.get_by_role("button", name="Show noise").click()
    playground.locator(".lane[data-mode=diffusion] .speed").select_option("2")
    link = shared(playground)
    run_id = events(playground, server_url)[0]["run"]
    visit(playground, link)
    lane = playground.locator(".lane[data-mode=diffusion]")
    expect(lane).to_have_attribute("data-run", run_id)
    expect(lane.locator("[data-fact=step]")).to_have_text("7 of 48")
    expect(lane.locator(".lane-message")).to_contain_text("A stored run of embedded, ")
    expect(lane.locator(".speed")).to_have_value("2")
    expect(playground.get_by_role("button", name="Show noise")).to_have_attribute("aria-pressed", "true")
    visit(playground, f"{server_url}r/{run_id}")
    expect(lane).to_have_attribute("data-run", run_id)
    expect(playground.locator("#prompt textarea")).to_have_value(STORY)


def test_back_leads_to_the_run_before(playground: Page, server_url: str) -> None:
    run(playground, SUM)
    finished(playground)
    first = events(playground, server_url)[0]["run"]
    playground.wait_for_function("location.hash.startsWith('#s=1.')")
    playground.wait_for_timeout(600)
    before = playground.evaluate("location.hash")
    playground.locator("#prompt textarea").fill("What is 12 + 13?")
    playground.wait_for_function("before => location.hash !== before", arg=before)
    draft = playground.evaluate("location.hash")
    run(playground, "What is 12 + 13?")
    finished(playground)
    playground.wait_for_function("draft => location.hash !== draft", arg=draft)
    playground.wait_for_timeout(600)
    playground.go_back()
    lane = playground.locator(".lane[data-mode=diffusion]")
    expect(lane).to_have_attribute("data-run", first)
    expect(playground.locator("#prompt textarea")).to_have_value(SUM)
    playground.go_forward()
    expect(lane).not_to_have_attribute("data-run", first)
    expect(playground.locator("#prompt textarea")).to_have_value("What is 12 + 13?")


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [("#s=1.abc", "cut off or changed"), ("#s=9.abc", "newer version"), ("#run=nobody", "no run behind this link")],
)
def test_a_broken_link_says_so_and_keeps_the_draft(playground: Page, broken: str, sentence: str) -> None:
    playground.locator("#prompt textarea").fill("my draft")
    playground.evaluate("(hash) => { location.hash = hash; }", broken)
    expect(playground.locator(".notice")).to_contain_text(sentence)
    expect(playground.locator("#prompt textarea")).to_have_value("my draft")
    playground.locator(".notice").get_by_role("button", name="Close").click()
    expect(playground.locator(".notice")).to_be_hidden()


def test_a_link_from_other_weights_says_so(playground: Page) -> None:
    playground.locator("#prompt textarea").fill(SUM)
    run(playground, SUM)
    finished(playground)
    link = bare(shared(playground), playground, {"revision": "0123456789abcdef"})
    visit(playground, link)
    expect(playground.locator(".notice")).to_contain_text("another revision of the model (01234567; here ")
    expect(playground.locator("#prompt textarea")).to_have_value(SUM)
