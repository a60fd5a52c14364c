"""A person at the page, with the real server and the embedded model behind it."""

import json
import re
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from playground.ui import examples
from tests.watching import SECONDS, cancel, visit, watched

STORY = "Tell a long story about Mia the fox and a friend named Hugo."
SUM = "What is 47 + 38?"
LONG = 120 * SECONDS

COLLECT_SOCKETS = """
window.sockets = [];
window.WebSocket = class extends WebSocket {
  constructor(...args) { super(...args); window.sockets.push(this); }
};
"""
"""Lets a test cut the line."""


@pytest.fixture
def playground(page: Page, server_url: str) -> Iterator[Page]:
    """The page, open, with its sockets at hand; nothing may go wrong meanwhile."""
    with watched(page, server_url):
        page.add_init_script(COLLECT_SOCKETS)
        visit(page, server_url)
        yield page


def run(page: Page, prompt: str, speed: str = "null") -> None:
    """Types a prompt and presses Run."""
    page.locator(".lane:visible .speed").first.select_option(speed)
    page.locator("#prompt textarea").fill(prompt)
    page.wait_for_timeout(650)  # a press sooner after the last one would count as the second of a double click
    before = page.evaluate(SHOWN)
    page.locator("#run").click()
    page.wait_for_function(f"(before) => ({SHOWN})().some((run, at) => run && run !== before[at])", arg=before)


SHOWN = "() => [...document.querySelectorAll('.lane')].map((lane) => lane.dataset.run)"
"""The runs that the lanes show. (A run may be over before anybody can look at its phase.)"""


def finished(page: Page) -> None:
    """Waits for the end of all runs, and for the page to show it."""
    page.locator("#denoise[data-phase=idle]").wait_for(timeout=LONG)
    page.locator("[data-why]").wait_for()


def fact(page: Page, name: str) -> str:
    """A figure in the head of the diffusion lane."""
    return page.locator(f".lane[data-mode=diffusion] [data-fact={name}]").inner_text()


def events(page: Page, server_url: str, mode: str = "diffusion") -> list[dict[str, Any]]:
    """The whole log of the run that a lane shows, from the server."""
    run_id = page.locator(f".lane[data-mode={mode}]").get_attribute("data-run")
    with urllib.request.urlopen(f"{server_url}api/runs/{run_id}/events") as response:
        return [json.loads(line) for line in response.read().splitlines()]


def set_number(page: Page, name: str, value: str) -> None:
    """Types a value beside a slider."""
    box = page.locator(f"#{name} input[type=number]")
    box.fill(value)
    box.blur()


def test_a_prompt_becomes_an_answer(playground: Page, server_url: str) -> None:
    run(playground, STORY, speed="4")
    lane = playground.locator(".lane[data-mode=diffusion]")
    for state in ("draft", "new", "kept"):
        lane.locator(f".lane-text .s-{state}").first.wait_for(state="attached")
    expect(playground.locator("[data-source=live]")).to_be_visible()
    expect(lane.locator("[data-fact=step]")).to_have_text(re.compile(r"^\d+ of 48$"))
    lane.locator(".speed").select_option("null")
    finished(playground)
    log = events(playground, server_url)
    end = log[-1]
    assert end["stop_reason"] == "end_of_turn"
    assert playground.locator(".answer:visible .answer-text:visible").inner_text() == end["text"]
    for name, value in (
        ("tokens", f"{end['metrics']['total_tokens']}"),
        ("tokens_per_forward", f"{end['metrics']['tokens_per_forward']:.1f}"),
        ("effective_steps", f"{end['metrics']['effective_denoising_steps']:.1f}"),
    ):
        expect(playground.locator(f"[data-metric={name}]")).to_have_text(value)
    expect(playground.locator("[data-why]")).to_contain_text("the model ended its turn")
    edges = lane.locator(".canvas-edge").all_inner_texts()
    steps = [event["steps"] for event in log if event["type"] == "canvas_committed"]
    assert edges == [f"canvas {k + 1} committed · {n} steps · stable and confident" for k, n in enumerate(steps)]
    playground.locator("#figure .label-wrap").click()
    playground.locator("#figure .js-plotly-plot").wait_for()


MOVE_BOUND = """() => new Promise((done) => {
  const fact = (name) => document.querySelector(`.lane[data-mode=diffusion] [data-fact=${name}]`);
  const step = () => Number.parseInt(fact('step').textContent);
  const slider = document.querySelector('#entropy_bound input[type=range]');
  const movedAt = step();
  new MutationObserver(() => requestAnimationFrame(() => done([movedAt, step(), fact('bound').className])))
    .observe(fact('bound'), { childList: true, characterData: true, subtree: true });
  slider.value = '12'; // the stop of 1 nat
  slider.dispatchEvent(new Event('input', { bubbles: true }));
})"""
"""Moves the slider as a hand does; gives the step seen then, the first step seen with the new bound, and its mark."""


def test_a_slider_moved_in_mid_run_acts_on_the_next_step(playground: Page, server_url: str) -> None:
    run(playground, STORY, speed="2")
    lane = playground.locator(".lane[data-mode=diffusion]")
    expect(lane.locator("[data-fact=step]")).to_have_text(re.compile(r"^[3-9] of 48$"))
    assert fact(playground, "bound") == "0.10"
    moved_at, seen_at, mark = playground.evaluate(MOVE_BOUND)
    assert fact(playground, "bound") == "1.00"
    assert mark == "edited"
    assert moved_at < seen_at <= moved_at + 2, "one step may have been on its way while the slider moved"
    cancel(playground)
    finished(playground)
    steps = [event for event in events(playground, server_url) if event["type"] == "step"]
    assert [event["step"] for event in steps if event["edits"]] == [seen_at]
    assert {event["entropy_bound"] for event in steps if event["step"] < seen_at} == {0.1}
    assert {event["entropy_bound"] for event in steps if event["step"] >= seen_at} == {1.0}


def test_cancel_ends_the_run_at_once(playground: Page, server_url: str) -> None:
    run(playground, STORY, speed="1")
    playground.wait_for_timeout(700)  # sooner it would be the second click of a double click
    cancel(playground)
    finished(playground)
    expect(playground.locator("[data-why]")).to_contain_text("cancelled")
    assert events(playground, server_url)[-1]["stop_reason"] == "cancelled"
    expect(playground.locator("#run")).to_be_visible()
    expect(playground.locator("#cancel")).to_be_hidden()


def test_pause_halts_the_run_and_resume_goes_on(playground: Page, server_url: str) -> None:
    run(playground, STORY, speed="8")
    playground.locator(".s-kept").first.wait_for(state="attached")
    playground.wait_for_timeout(700)
    playground.locator("#pause").click()
    expect(playground.locator("[data-source=paused]")).to_be_visible()
    playground.wait_for_timeout(800)
    halted = fact(playground, "step")
    playground.wait_for_timeout(800)
    assert fact(playground, "step") == halted
    playground.locator(".lane[data-mode=diffusion] .speed").select_option("null")
    playground.locator("#resume").click()
    finished(playground)
    assert events(playground, server_url)[-1]["stop_reason"] == "end_of_turn"


def test_side_by_side_runs_one_after_the_other(playground: Page, server_url: str) -> None:
    playground.get_by_text("Side by side").click()
    run(playground, SUM, speed="8")
    expect(playground.locator(".lane[data-mode=autoregressive] .lane-message")).to_contain_text(
        "Waits for the diffusion"
    )
    finished(playground)
    diffusion, writing = events(playground, server_url), events(playground, server_url, "autoregressive")
    assert diffusion[0]["recipe"]["messages"] == writing[0]["recipe"]["messages"]
    assert diffusion[0]["recipe"]["seed"] == writing[0]["recipe"]["seed"]
    assert diffusion[0]["created"] <= writing[0]["created"]
    for mode, log in (("diffusion", diffusion), ("autoregressive", writing)):
        assert not log[-1]["metrics"]["shared_device"]
        expect(playground.locator(f".lane[data-mode={mode}] .lane-status")).to_have_text(
            re.compile(r"s on the device$")
        )
        assert log[-1]["text"] in playground.locator(".answer:visible .answer-text:visible").all_inner_texts()
    expect(playground.locator("[data-metric=compare]")).to_have_text(re.compile(r"^\d+\.\d ×$"))
    expect(playground.locator("[data-metric-ar=tokens]")).to_have_text(f"AR {writing[-1]['metrics']['total_tokens']}")


def test_autoregressive_alone(playground: Page, server_url: str) -> None:
    playground.locator("#mode").get_by_text("AR", exact=True).click()
    expect(playground.locator("#sampler")).to_be_hidden()
    expect(playground.locator("#decoding")).to_be_visible()
    set_number(playground, "temperature", "0")
    run(playground, SUM)
    finished(playground)
    log = events(playground, server_url, "autoregressive")
    tokens = [event for event in log if event["type"] == "token"]
    assert log[0]["recipe"]["decoding"]["temperature"] == 0
    expect(playground.locator(".lane[data-mode=autoregressive] [data-fact=token]")).to_have_text(str(len(tokens)))


def test_an_error_stands_where_it_belongs(playground: Page) -> None:
    playground.locator("#run").click()
    expect(playground.locator("#prompt .field-error")).to_contain_text("The prompt is empty")
    expect(playground.locator("#prompt textarea")).to_have_attribute("aria-invalid", "true")
    playground.locator("#prompt textarea").fill(SUM)
    expect(playground.locator("#prompt .field-error")).to_have_count(0)
    set_number(playground, "t_min", "1.5")
    playground.locator("#run").click()
    expect(playground.locator(".field-error")).to_contain_text(
        "must not be above the temperature of the first step (0.8)"
    )
    expect(playground.locator(".field-error")).to_have_count(1)
    playground.locator("#reset-sampler").click()
    run(playground, SUM)
    finished(playground)
    expect(playground.locator(".field-error")).to_have_count(0)


def test_a_refused_change_in_mid_run_leaves_the_run_alone(playground: Page, server_url: str) -> None:
    run(playground, STORY, speed="8")
    set_number(playground, "t_min", "1.9")
    expect(playground.locator(".field-error")).to_contain_text("must not be above")
    set_number(playground, "t_max", "2")
    playground.locator(".lane[data-mode=diffusion] [data-fact=temperature].edited").wait_for()
    playground.wait_for_timeout(700)
    cancel(playground)
    finished(playground)
    last = [event for event in events(playground, server_url) if event["type"] == "step"][-1]
    assert last["temperature"] > 1.9, "both went over together once they fit"


def test_a_lost_connection_comes_back_to_its_run(playground: Page, server_url: str) -> None:
    run(playground, STORY, speed="8")
    playground.locator(".lane-text .s-kept").first.wait_for(state="attached")
    playground.evaluate("window.sockets.at(-1).close()")  # while there is a line on which to say goodbye
    playground.context.set_offline(True)
    expect(playground.locator("#head .chip[role=status]")).to_contain_text("Connection lost", timeout=30 * SECONDS)
    playground.context.set_offline(False)
    expect(playground.locator("#head .chip[role=status]")).to_be_hidden(timeout=30 * SECONDS)
    playground.locator(".lane[data-mode=diffusion] .speed").select_option("16")
    finished(playground)
    log = events(playground, server_url)
    assert log[-1]["stop_reason"] == "end_of_turn"
    playground.locator(".lane[data-mode=diffusion] .timeline").focus()
    playground.keyboard.press("Home")
    frames = [event for event in log if event["type"] in ("canvas_started", "step", "canvas_committed")]
    expect(playground.locator(".timeline").first).to_have_attribute("aria-valuemax", str(len(frames) - 1))


OTHER_RUN = """() => {
  const say = WebSocket.prototype.send;
  WebSocket.prototype.send = function (text) {
    say.call(this, text.includes('"join"') ? text.replace(/"run":"[^"]+"/, '"run":"AAAAAAAAAAAAAAAAAAAAAA"') : text);
  };
  window.sockets.at(-1).close();
}"""


def test_a_run_that_the_server_has_lost_says_so(playground: Page) -> None:
    """As after a start of the server: the page asks for its run, and nobody knows it."""
    run(playground, STORY, speed="1")
    playground.locator(".lane-text .s-kept").first.wait_for(state="attached")
    playground.evaluate(OTHER_RUN)
    lane = playground.locator(".lane[data-mode=diffusion]")
    expect(lane.locator(".lane-message")).to_contain_text("The server no longer has this run")
    expect(lane.get_by_role("button", name="Follow live")).to_be_hidden()
    expect(playground.locator("#denoise")).to_have_attribute("data-phase", "idle")
    playground.get_by_role("button", name="Export").click()
    expect(playground.locator(".menu-panel:visible")).to_contain_text("The run broke off")


def test_an_example_runs_in_one_click(playground: Page, server_url: str) -> None:
    playground.locator(".lane[data-mode=diffusion] .speed").select_option("null")
    group = examples.EMBEDDED[2]
    playground.get_by_role("button", name=group.name).click()
    prompt = playground.locator("#prompt textarea")
    expect(prompt).to_have_value(group.examples[0].prompt)
    expect(playground.locator("#examples")).to_contain_text(group.teaches)
    playground.locator(".lane[data-run]").first.wait_for()
    finished(playground)
    assert events(playground, server_url)[0]["recipe"]["messages"][0]["content"] == group.examples[0].prompt
    playground.wait_for_timeout(650)
    playground.locator("#examples").get_by_role("button", name=group.examples[1].name).click()
    expect(prompt).to_have_value(group.examples[1].prompt)
    finished(playground)
    recipe = events(playground, server_url)[0]["recipe"]
    assert (recipe["messages"][0]["content"], recipe["seed"]) == (group.examples[1].prompt, group.examples[1].seed)


def test_alternatives_are_fetched_when_asked_for(playground: Page, server_url: str) -> None:
    run(playground, SUM)
    finished(playground)
    steps = [event for event in events(playground, server_url) if event["type"] == "step"]
    playground.locator(".lane[data-mode=diffusion] .lane-text .t").nth(2).click()
    rows = playground.locator("#inspector .alternatives li")
    expect(playground.locator("#inspector h3").first).to_have_text(f"Position 3 at step {len(steps)}")
    expect(rows).to_have_count(5)
    texts = steps[-1]["texts"] | steps[-1].get("top_texts", {})
    shown = [text.strip() for text in rows.locator(".token").all_text_contents()]
    known = [(texts[str(id)].strip(), at) for at, id in enumerate(steps[-1]["top_ids"][2][:5]) if str(id) in texts]
    assert known
    assert all(shown[at] == (text or "␣") for text, at in known)
