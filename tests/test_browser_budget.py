"""The budget picture: the page's own acceptance against the engine's, and what another bound would have done."""

import itertools
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from playground.engine import models, runs
from playground.engine.steering import Steering
from playground.events import Step
from playground.recipe import Recipe
from playground.settings import Settings
from tests.test_browser import STORY, events, finished, run

PROMPTS = (STORY, "Sort these numbers: 42 7 93 18 5", "What is 47 + 38?", "Write an acrostic poem for SUN.")
BOUNDS = (0.0, 0.02, 0.1, 0.7, 5.0)
RUNS = 100

MASKS = """async ([steps, bounds]) => {
  const { acceptedAt } = await import(new URL('page/run/states.js', document.baseURI));
  return steps.map((step) => (bounds ?? [step.entropy_bound]).map((bound) => acceptedAt(step, bound)));
}"""

WARMER = """async ([steps, vocabulary]) => {
  const { acceptedWarmer } = await import(new URL('page/run/heat.js', document.baseURI));
  const stops = Array.from({ length: 39 }, (_, stop) => ({ stop, temperature: (stop + 2) / 20 }));
  return steps.flatMap((step, at) => stops.map(({ stop, temperature }) =>
    ({ at, stop, temperature, ...acceptedWarmer(step, temperature, step.entropy_bound, vocabulary) })));
}"""


@pytest.fixture(scope="module")
def steps() -> list[Step]:
    """The steps of a hundred runs with all kinds of bounds, some with pinned positions."""
    model = models.load(Settings(device="cpu"))
    made: list[Step] = []
    for number, (prompt, bound) in zip(range(RUNS), itertools.cycle(itertools.product(PROMPTS, BOUNDS)), strict=False):
        pin = [{"type": "pin", "canvas": 0, "step": 2, "start": 3, "text": " the"}] if number % 7 == 0 else []
        recipe = Recipe.model_validate(
            {
                "messages": [{"role": "user", "content": prompt}],
                "seed": number,
                "max_new_tokens": 64,
                "sampler": {"entropy_bound": bound, "max_denoising_steps": 5},
                "edits": pin,
            }
        )
        found = runs.events(model, runs.prepare(model, recipe, Settings()), Steering(recipe))
        made += [event for event in found if isinstance(event, Step)]
    return made


def test_the_pages_acceptance_is_the_traces_on_every_step_of_a_hundred_runs(
    playground: Page, steps: list[Step]
) -> None:
    assert len(steps) > 2 * RUNS
    sent = [step.model_dump(mode="json", include={"entropy", "pinned", "entropy_bound"}) for step in steps]
    masks = playground.evaluate(MASKS, [sent, None])
    assert [mask[0] for mask in masks] == [step.accepted for step in steps]


def what_if(page: Page, stop: int, what: str = "bound") -> None:
    """Moves a what-if slider to a stop."""
    slider = page.get_by_label(f"What if the {what} were")
    slider.evaluate("(slider, stop) => { slider.value = stop; slider.dispatchEvent(new Event('input')); }", stop)


def look_at(page: Page, number: int) -> None:
    """Goes to a step of the first canvas."""
    page.locator(".lane[data-mode=diffusion] .timeline").focus()
    page.keyboard.press("Home")
    for _ in range(number):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#inspector h3").first).to_contain_text(f"at step {number}")


def go_on(page: Page, server_url: str, number: int) -> list[dict[str, Any]]:
    """Runs the fork that is offered, and gives its steps."""
    old = page.locator(".lane[data-mode=diffusion]").get_attribute("data-run")
    page.get_by_role("button", name=f"Go on from step {number} with it").click()
    page.wait_for_function("old => document.querySelector('.lane[data-mode=diffusion]').dataset.run !== old", arg=old)
    finished(page)
    return steps_of(page, server_url)


def test_another_bound_accepts_what_the_engine_accepts_with_it(playground: Page, server_url: str) -> None:
    run(playground, STORY)
    finished(playground)
    before = steps_of(playground, server_url)
    number = len(before) // 2
    look_at(playground, number)
    stop = 15  # 3 nats
    what_if(playground, stop)
    ((mask,),) = playground.evaluate(MASKS, [[before[number - 1]], [3]])
    words = playground.locator(".what-if [role=status]")
    expect(words).to_contain_text(f"{sum(mask)} would be accepted.")
    expect(words).to_contain_text("This step only")
    after = go_on(playground, server_url, number)
    assert after[number - 1]["accepted"] == mask
    assert after[number - 1]["entropy_bound"] == 3
    assert [step["accepted"] for step in after[: number - 1]] == [step["accepted"] for step in before[: number - 1]]


def test_another_temperature_accepts_what_the_engine_accepts_where_it_can_be_told(
    playground: Page, server_url: str
) -> None:
    run(playground, STORY)
    finished(playground)
    before = [step for step in steps_of(playground, server_url) if step["canvas"] == 0]
    told = playground.evaluate(WARMER, [before, 1024])
    some = [each for each in told if not each["open"] and each["mask"] != before[each["at"]]["accepted"]]
    unsure = [each for each in told if each["open"]]
    assert some
    assert unsure
    words = playground.locator(".what-if [role=status]")
    look_at(playground, unsure[0]["at"] + 1)
    what_if(playground, unsure[0]["stop"], "temperature")
    expect(words).to_contain_text("do not settle it")
    choice = some[len(some) // 2]
    number = choice["at"] + 1
    look_at(playground, number)
    what_if(playground, choice["stop"], "temperature")
    expect(words).to_contain_text(f"{sum(choice['mask'])} would be accepted.")
    after = go_on(playground, server_url, number)
    assert after[number - 1]["temperature"] == pytest.approx(choice["temperature"], rel=1e-5)
    assert after[number - 1]["accepted"] == choice["mask"]


def test_the_steps_own_bound_changes_nothing_and_comes_back(playground: Page) -> None:
    run(playground, STORY)
    finished(playground)
    look_at(playground, 1)
    expect(playground.locator(".what-if output").first).to_have_text("0.1 nats")
    what_if(playground, 6)  # 0.1 nats, the step's own
    expect(playground.locator(".what-if button:visible")).to_have_count(0)
    what_if(playground, 0)
    expect(playground.locator(".what-if output").first).to_have_text("0 nats")
    expect(playground.locator(".chart .tried")).to_have_count(3)
    playground.get_by_role("button", name="Back to the step's own").click()
    expect(playground.locator(".what-if output").first).to_have_text("0.1 nats")
    expect(playground.locator(".chart .tried")).to_have_count(0)


def test_the_bound_is_dragged_in_the_picture(playground: Page, server_url: str) -> None:
    run(playground, STORY)
    finished(playground)
    step = steps_of(playground, server_url)[2]
    look_at(playground, 3)
    grip = playground.locator(".chart .grip")
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    playground.mouse.move(x, y)
    playground.mouse.down()
    playground.mouse.move(x, y - 30, steps=6)
    playground.mouse.up()
    output = playground.locator(".what-if output").first
    expect(output).not_to_have_text("0.1 nats")
    tried = float(output.inner_text().removesuffix(" nats"))
    assert tried > 0.1
    ((mask,),) = playground.evaluate(MASKS, [[step], [tried]])
    expect(playground.locator(".what-if [role=status]")).to_contain_text(f"{sum(mask)} would be accepted.")


def test_a_rule_without_a_budget_shows_its_own_reason(playground: Page, server_url: str) -> None:
    playground.locator("#rule-name").select_option("fixed_k")
    playground.locator("#k-value").fill("20")
    run(playground, STORY)
    finished(playground)
    recipe = events(playground, server_url)[0]["recipe"]
    assert (recipe["sampler"]["name"], recipe["sampler"]["k"]) == ("fixed_k", 20)
    assert "entropy_bound" not in recipe["sampler"]
    line = playground.locator(".lane[data-mode=diffusion] .timeline")
    line.focus()
    playground.keyboard.press("Home")
    playground.keyboard.press("ArrowRight")
    expect(playground.locator(".lane[data-mode=diffusion] [data-fact=bound]")).to_have_text("20")
    expect(playground.locator("#inspector .pairs")).to_contain_text("the 20 surest")
    expect(playground.locator(".what-if")).to_be_hidden()
    playground.locator("#reset-sampler").click()
    expect(playground.locator("#rule-name")).to_have_value("entropy_bound")


def steps_of(page: Page, server_url: str) -> list[dict[str, Any]]:
    """The steps of the run that is shown."""
    return [event for event in events(page, server_url) if event["type"] == "step"]
