"""Edits and forks at the page, with the real server and the embedded model behind it."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.test_browser import SECONDS, STORY, SUM, events, finished, own, run

STEP = 6
POSITION = 8


@pytest.fixture
def forked(page: Page, server_url: str) -> Iterator[Page]:
    """The page with a finished run; nothing may go wrong meanwhile."""
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: None if own(request.url, server_url) else wrong.append(request.url))
    page.set_default_timeout(60 * SECONDS)
    page.goto(server_url)
    page.locator("#denoise[data-ready][data-model=ready]").wait_for()
    yield page
    assert wrong == []


def lane(page: Page) -> Locator:
    """The diffusion lane."""
    return page.locator(".lane[data-mode=diffusion]")


def told(page: Page, prompt: str = STORY) -> None:
    """Runs a prompt to its end at full speed."""
    run(page, prompt)
    finished(page)


def go_to(page: Page, step: int) -> None:
    """Looks at a step of the first canvas."""
    lane(page).locator(".timeline").focus()
    page.keyboard.press("Home")
    for _ in range(step):
        page.keyboard.press("ArrowRight")
    expect(lane(page).locator("[data-fact=step]")).to_have_text(re.compile(f"^{step} of"))


def go_on(page: Page) -> None:
    """Presses "Go on" and waits for the end of the fork."""
    before = lane(page).get_attribute("data-run")
    page.locator("#edits .go").click()
    page.wait_for_function(f"document.querySelector('.lane[data-mode=diffusion]').dataset.run !== '{before}'")
    finished(page)


def plain(log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events without what differs between equal runs: ids and times."""
    times = {"run", "created", "ms", "device_ms", "metrics"}
    return [{name: value for name, value in event.items() if name not in times} for event in log]


def steps(log: list[dict[str, Any]], canvas: int = 0) -> list[dict[str, Any]]:
    """The steps of a canvas."""
    return [event for event in log if event["type"] == "step" and event["canvas"] == canvas]


def test_a_fork_without_a_change_goes_the_same_way(forked: Page, server_url: str) -> None:
    told(forked)
    parent = events(forked, server_url)
    go_to(forked, STEP)
    expect(forked.locator("#edits .go")).to_have_text(f"Go on from step {STEP}")
    go_on(forked)
    fork = events(forked, server_url)
    assert plain(fork) == plain(parent)
    assert fork[0]["run"] != parent[0]["run"]
    expect(lane(forked).locator(".lane-message")).to_contain_text(f"A fork of step {STEP} of the run before, without")


def test_a_pin_holds_from_its_step_to_the_commit(forked: Page, server_url: str) -> None:
    told(forked)
    parent = events(forked, server_url)
    go_to(forked, STEP)
    lane(forked).locator(f".lane-text [data-p='{POSITION}']").click()
    forked.locator(".edit-text").fill("purple")
    forked.locator(".edit-text").press("Enter")
    chip = forked.locator("#edits .edit-chip[data-state=added]")
    expect(chip).to_contain_text(f"from position {POSITION + 1} on · step {STEP}")
    go_on(forked)
    fork = events(forked, server_url)
    [pin] = fork[-1]["recipe"]["edits"]
    assert pin | {"ids": None} == {
        "type": "pin",
        "canvas": 0,
        "step": STEP,
        "start": POSITION,
        "text": " purple",
        "ids": None,
    }
    changed = {"recipe", "seq"}
    for before, after in zip(plain(parent)[: STEP + 1], plain(fork)[: STEP + 1], strict=True):
        assert {**before, **dict.fromkeys(changed)} == {**after, **dict.fromkeys(changed)}, "all before it stays"
    pinned = [step for step in steps(fork) if step["step"] >= STEP]
    span = [at for at, held in enumerate(pinned[0]["pinned"]) if held]
    assert span[0] == POSITION
    held = [pinned[0]["predicted"][at] for at in span]
    for step in pinned:
        for column in ("predicted", "sampled", "canvas_ids"):
            assert [step[column][at] for at in span] == held
        assert not any(step["accepted"][at] for at in span)
    commit = next(event for event in fork if event["type"] == "canvas_committed")
    assert [commit["ids"][at] for at in span] == held
    assert " purple" in commit["text"]
    go_to(forked, STEP)
    marked = lane(forked).locator(".lane-text .s-pinned:visible")
    assert [mark.get_attribute("data-p") for mark in marked.all()] == [str(at) for at in span]
    lane(forked).get_by_role("button", name="Back to it").click()
    expect(lane(forked)).to_have_attribute("data-run", parent[0]["run"])


def test_a_span_is_renoised_and_parameters_change_with_it(forked: Page, server_url: str) -> None:
    told(forked)
    parent = events(forked, server_url)
    go_to(forked, STEP)
    lane(forked).locator(".lane-text [data-p='2']").click()
    lane(forked).locator(".lane-text").focus()
    forked.keyboard.press("Shift+ArrowRight")
    forked.keyboard.press("Shift+ArrowRight")
    expect(forked.locator(".edit-where")).to_have_text("Positions 3–5")
    forked.locator("#edits").get_by_role("button", name="One position less").click()
    expect(forked.locator(".edit-where")).to_have_text("Positions 3–4")
    expect(lane(forked).locator(".lane-text .t.selected:visible")).to_have_count(2)
    forked.get_by_role("button", name="Renoise").click()
    forked.locator("#entropy-bound-value").fill("2.5")
    forked.get_by_role("button", name="Set bound 2.5").click()
    expect(forked.locator("#edits .edit-chip[data-state=added]")).to_have_count(2)
    go_on(forked)
    fork = events(forked, server_url)
    assert fork[-1]["recipe"]["edits"] == [
        {"type": "renoise", "canvas": 0, "step": STEP, "start": 2, "length": 2},
        {"type": "set", "canvas": 0, "step": STEP, "sampler": {"entropy_bound": 2.5}},
    ]
    assert {step["entropy_bound"] for step in steps(fork) if step["step"] >= STEP} == {2.5}
    assert {step["entropy_bound"] for step in steps(fork) if step["step"] < STEP} == {0.1}
    fed, before = steps(fork)[STEP - 1]["fed_ids"], steps(parent)[STEP - 2]["canvas_ids"]
    assert [at for at, (a, b) in enumerate(zip(fed, before, strict=True)) if a != b] == [2, 3]


def test_an_edit_can_be_taken_back_before_and_after_it_has_run(forked: Page, server_url: str) -> None:
    told(forked, SUM)
    parent = events(forked, server_url)
    go_to(forked, 1)
    lane(forked).locator(".lane-text [data-p='1']").click()
    forked.locator(".edit-text").fill("9")
    forked.get_by_role("button", name="Pin", exact=True).click()
    forked.get_by_role("button", name="Renoise").click()
    forked.get_by_role("button", name=re.compile("^Remove: renoise")).click()
    expect(forked.locator("#edits .edit-chip")).to_have_count(1)
    go_on(forked)
    assert [edit["type"] for edit in events(forked, server_url)[-1]["recipe"]["edits"]] == ["pin"]
    forked.get_by_role("button", name=re.compile("^Remove: pin")).click()
    expect(forked.locator("#edits .edit-chip[data-state=left]")).to_have_count(1)
    go_on(forked)
    assert plain(events(forked, server_url)) == plain(parent)


def test_a_wrong_edit_says_so_where_it_stands(forked: Page) -> None:
    told(forked, SUM)
    go_to(forked, 1)
    lane(forked).locator(".lane-text [data-p='3']").click()
    forked.locator(".edit-text").fill("many words " * 90)
    forked.get_by_role("button", name="Pin", exact=True).click()
    forked.locator("#edits .go").click()
    expect(forked.locator("#edits .field-error")).to_contain_text("reach over the canvas of 64")
    expect(forked.locator("#edits .edit-chip[data-state=added]")).to_have_count(1)
    forked.get_by_role("button", name="Discard").click()
    expect(forked.locator("#edits .field-error")).to_have_count(0)
    forked.locator("#start select").select_option("infill")
    forked.locator(".start-text").fill("no hole at all")
    forked.locator("#run").click()
    expect(forked.locator("#start .field-error")).to_contain_text("The text has no hole")
    forked.locator(".start-text").fill("one ___{1}")
    expect(forked.locator("#start .field-error")).to_have_count(0)


def test_holes_are_filled_and_the_rest_comes_back_untouched(forked: Page, server_url: str) -> None:
    forked.locator("#start select").select_option("infill")
    forked.get_by_role("button", name="JSON skeleton").click()
    text = forked.locator(".start-text").input_value()
    told(forked, "Make JSON: name Zoe, age 31, city Rome")
    end = events(forked, server_url)[-1]
    assert end["recipe"]["edits"] == [{"type": "infill", "text": text}]
    parts = [re.escape(part) for part in re.split(r" ?___\{\d+\}", text)]
    assert re.fullmatch("(?s)" + "(.*)".join(parts), end["text"]), end["text"]
    expect(forked.locator("#edits .edit-chip")).to_contain_text("fill holes in")


def test_a_text_of_ones_own_at_a_noise_level(forked: Page, server_url: str) -> None:
    told(forked, SUM)
    forked.locator("#start select").select_option("canvas")
    forked.get_by_role("button", name="The answer shown").click()
    forked.get_by_label("Noise level").fill("0.25")
    told(forked, SUM)
    [edit] = events(forked, server_url)[-1]["recipe"]["edits"]
    assert edit["type"] == "canvas"
    assert edit["noise"] == 0.25
    assert edit["text"] == events(forked, server_url)[-1]["text"]
    forked.locator("#start select").select_option("noise")
    told(forked, SUM)
    assert events(forked, server_url)[-1]["recipe"]["edits"] == []


def test_an_autoregressive_run_is_forked_by_its_parameters(forked: Page, server_url: str) -> None:
    forked.locator("#mode").get_by_text("AR", exact=True).click()
    told(forked, SUM)
    parent = events(forked, server_url, "autoregressive")
    forked.locator(".lane[data-mode=autoregressive] .timeline").focus()
    forked.keyboard.press("Home")
    forked.keyboard.press("ArrowRight")
    box = forked.locator("#temperature input[type=number]")
    box.fill("0")
    box.blur()
    forked.get_by_role("button", name="Set τ 0").click()
    expect(forked.locator("#edits .go")).to_have_text("Go on from token 2")
    forked.locator("#edits .go").click()
    ar = ".lane[data-mode=autoregressive]"
    forked.wait_for_function(f"document.querySelector('{ar}').dataset.run !== '{parent[0]['run']}'")
    finished(forked)
    fork = events(forked, server_url, "autoregressive")
    assert fork[-1]["recipe"]["edits"] == [{"type": "set", "index": 1, "decoding": {"temperature": 0}}]
    tokens = [event for event in fork if event["type"] == "token"]
    assert [token["temperature"] for token in tokens] == [1, *[0] * (len(tokens) - 1)]


def test_a_fork_of_a_run_that_is_going_on_ends_it(forked: Page, server_url: str) -> None:
    run(forked, STORY, speed="4")
    lane(forked).locator("[data-fact=step]").get_by_text(re.compile("^[3-9] of")).wait_for()
    first = lane(forked).get_attribute("data-run")
    lane(forked).locator(".timeline").focus()
    forked.keyboard.press("Home")
    forked.keyboard.press("ArrowRight")
    forked.get_by_role("button", name="Renoise").click()
    lane(forked).locator(".speed").select_option("null")
    go_on(forked)
    assert events(forked, server_url)[-1]["stop_reason"] == "end_of_turn"
    forked.wait_for_function(
        f"fetch('{server_url}api/runs/{first}').then(async (r) => (await r.json()).stop_reason === 'cancelled')"
    )
    assert json.dumps(events(forked, server_url)[-1]["recipe"]["edits"]).count("renoise") == 1
