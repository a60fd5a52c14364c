"""The lab on the page: a sweep is begun, watched, looked into, and taken to the player."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.test_browser import events, finished, run
from tests.watching import visit, watched

SPEC = {
    "name": "a small one",
    "recipe": {"max_new_tokens": 64},
    "vary": {"sampler.entropy_bound": [0.1, 2], "sampler.max_denoising_steps": [3, 48]},
    "prompts": [
        {"prompt": "What is 3 + 4?", "pattern": "7"},
        {"prompt": "What is the opposite of hot?", "pattern": "cold"},
    ],
    "seeds": [0, 1],
}


@pytest.fixture
def playground(page: Page, server_url: str) -> Iterator[Page]:
    """The page with its lab open; nothing may go wrong meanwhile."""
    with watched(page, server_url, console=False):
        visit(page, server_url)
        page.get_by_role("button", name="Lab", exact=True).click()
        page.locator("#lab-sweep option").first.wait_for(state="attached")
        yield page


def new(page: Page) -> None:
    page.get_by_role("button", name="New", exact=True).click()
    expect(page.locator("#lab-new")).to_be_visible()


def as_json(page: Page, spec: object) -> None:
    page.get_by_role("button", name="JSON", exact=True).click()
    page.get_by_label("The spec as JSON").fill(json.dumps(spec))


def start(page: Page) -> None:
    page.locator("#lab-start").click()
    expect(page.locator("#lab-new")).to_be_hidden()
    page.locator("#lab section[data-state=done]").wait_for()


def test_a_sweep_from_the_form_to_the_player(playground: Page) -> None:
    new(playground)
    as_json(playground, SPEC)
    playground.get_by_role("button", name="JSON", exact=True).click()  # the form says the same
    lines = "What is 3 + 4? => /7/\nWhat is the opposite of hot? => /cold/"
    expect(playground.locator("#lab-prompts")).to_have_value(lines)
    expect(playground.locator("#lab-new .pairs")).to_contain_text("16")
    start(playground)
    rows = playground.locator(".lab-table tbody tr")
    expect(rows).to_have_count(4)
    expect(playground.locator("#lab .js-plotly-plot").first).to_be_visible()
    expect(rows.filter(has_text="released")).to_have_count(1)
    loose = '{"sampler.entropy_bound":2,"sampler.max_denoising_steps":48}'
    playground.locator(f".lab-table tr[data-key='{loose}'] button").click()
    point = playground.locator("#lab-point")
    expect(point).to_contain_text("speed against released")
    expect(point).to_contain_text("correct against released")
    expect(point.locator(".lab-runs li")).to_have_count(4)
    point.get_by_role("button", name="Use these settings").click()
    expect(playground.locator("#denoise")).to_have_attribute("data-view", "play")
    expect(playground.locator("#max_denoising_steps input[type=number]")).to_have_value("48")
    expect(playground.locator("#entropy-bound-value")).to_have_value("2")
    expect(playground.locator("#max_new_tokens input[type=number]")).to_have_value("64")


def test_a_run_of_a_sweep_is_made_again_in_the_player(playground: Page) -> None:
    new(playground)
    as_json(playground, SPEC | {"vary": {"sampler.max_denoising_steps": [3, 48]}, "seeds": [5]})
    start(playground)
    answer = playground.evaluate(
        """async () => {
          const id = document.querySelector('#lab-sweep').value;
          const setting = `{"sampler.max_denoising_steps":48}`;
          const { runs } = await (await fetch(`api/sweeps/${id}/runs?setting=${setting}`)).json();
          return runs[1].text;
        }"""
    )
    playground.locator(".lab-table tbody tr").filter(has_text="released").locator("button").click()
    playground.locator(".lab-runs .run-open").filter(has_text="opposite").click()
    finished(playground)
    expect(playground.locator(".answers")).to_contain_text(answer)
    expect(playground.locator("#seed input")).to_have_value("5")
    expect(playground.locator("#prompt textarea")).to_have_value("What is the opposite of hot?")


def test_the_lab_is_in_the_address(playground: Page) -> None:
    new(playground)
    as_json(playground, SPEC | {"vary": {}, "seeds": [1]})
    start(playground)
    sweep = playground.locator("#lab-sweep").input_value()
    playground.wait_for_function("() => location.hash.length > 10")
    playground.wait_for_timeout(600)
    playground.reload()
    playground.locator("#denoise[data-ready]").wait_for()
    expect(playground.locator("#denoise")).to_have_attribute("data-view", "lab")
    expect(playground.locator("#lab-sweep")).to_have_value(sweep)


def test_a_wrong_form_says_what_is_wrong_where(playground: Page) -> None:
    new(playground)
    bound = playground.locator("#lab-entropy_bound")
    bound.fill("0.1, much")
    expect(playground.locator("#lab-error")).to_have_text("much is no number. Values stand with commas between them.")
    expect(bound).to_have_attribute("aria-invalid", "true")
    bound.fill("0.1, -1")
    playground.locator("#lab-start").click()
    expect(playground.locator("#lab-error")).to_contain_text("greater than or equal to 0")
    expect(bound).to_have_attribute("aria-invalid", "true")
    bound.fill("0.1, 1")
    expect(playground.locator("#lab-error")).to_be_hidden()
    playground.locator("#lab-count").fill("2000")
    playground.locator("#lab-start").click()
    expect(playground.locator("#lab-error")).to_contain_text("at most 5000 are allowed here")
    playground.locator("#lab-count").fill("2")
    playground.locator("#lab-prompts").fill("What is 3 + 4? => /((((7{100}){100}){100}){100}){100}/")
    playground.locator("#lab-start").click()
    expect(playground.locator("#lab-error")).to_contain_text("repeat too much")
    expect(playground.locator("#lab-prompts")).to_have_attribute("aria-invalid", "true")
    as_json(playground, SPEC | {"search": {"kind": "random", "samples": 3}})
    playground.get_by_role("button", name="JSON", exact=True).click()
    expect(playground.locator("#lab-error")).to_contain_text("cannot say all of this")


def test_where_nothing_tells_right_from_wrong_agreement_is_shown(playground: Page) -> None:
    new(playground)
    as_json(playground, SPEC | {"prompts": [{"prompt": "What is the opposite of hot?"}], "seeds": [0]})
    start(playground)
    expect(playground.locator(".lab-table thead")).to_contain_text("same answer")
    released = playground.locator(".lab-table tbody tr").filter(has_text="released")
    expect(released).to_contain_text("100.0 %")
    released.locator("button").click()
    expect(playground.locator("#lab-point")).to_contain_text("same answer as released")
    expect(playground.locator("#lab h3", has_text="Agreement against tokens per forward pass")).to_be_visible()


def test_a_sweep_is_paused_resumed_and_deleted(playground: Page) -> None:
    new(playground)
    as_json(playground, SPEC | {"seeds": list(range(60))})
    playground.locator("#lab-start").click()
    playground.get_by_role("button", name="Pause", exact=True).and_(playground.locator("#lab *")).click()
    playground.locator("#lab section[data-state=paused]").wait_for()
    playground.get_by_role("button", name="Go on", exact=True).click()
    playground.locator("#lab section[data-state=running]").wait_for()
    expect(playground.locator("#lab .lab-body")).to_contain_text("of 480")
    playground.get_by_role("button", name="End", exact=True).click()
    playground.locator("#lab section[data-state=cancelled]").wait_for()
    playground.get_by_role("button", name="Delete", exact=True).and_(playground.locator("#lab *")).click()
    expect(playground.locator("#lab-sweep option", has_text="a small one · ended early")).to_have_count(0)


FASTER = '{"sampler.entropy_bound":0.1,"sampler.max_denoising_steps":16}'


def test_a_faster_setting_of_the_recorded_sweep_is_applied(playground: Page, server_url: str) -> None:
    """docs/tuning.md, step by step."""
    expect(playground.locator("#lab-sweep option:checked")).to_have_text("bounds and caps · recorded")
    expect(playground.locator(".lab-table tbody tr")).to_have_count(20)
    playground.locator(f".lab-table tr[data-key='{FASTER}'] button").click()
    point = playground.locator("#lab-point")
    expect(point).to_contain_text("correct against released")
    expect(point.locator(".lab-runs li")).not_to_have_count(0)
    point.get_by_role("button", name="Use these settings").click()
    run(playground, "What is 47 + 38?")
    finished(playground)
    sampler = events(playground, server_url)[0]["recipe"]["sampler"]
    assert (sampler["entropy_bound"], sampler["max_denoising_steps"]) == (0.1, 16)


def test_the_lab_says_that_it_fetches_before_it_shows_anything(page: Page, server_url: str) -> None:
    held: list[Route] = []
    page.set_viewport_size({"width": 390, "height": 844})
    page.route("**/api/sweeps*", lambda route: held.append(route))
    with watched(page, server_url, console=False):
        visit(page, server_url)
        page.get_by_role("button", name="Lab", exact=True).click()
        expect(page.locator(".lab-empty")).to_have_text("Fetching the sweeps…")
        for part in (".lab-table", "#lab-sweep", "#lab-start"):
            expect(page.locator(part)).to_be_hidden()
        for route in held:
            route.continue_()
        held.clear()
        page.unroute("**/api/sweeps*")
        expect(page.locator("#lab-sweep")).to_be_visible()
        expect(page.locator(".lab-empty")).to_be_hidden()
