"""Edits and forks at the page, with the real server and the embedded model behind it."""

import json
import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.test_browser import STORY, SUM, events, finished, run

STEP = 6
POSITION = 8


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


def test_a_fork_without_a_change_goes_the_same_way(playground: Page, server_url: str) -> None:
    told(playground)
    parent = events(playground, server_url)
    go_to(playground, STEP)
    expect(playground.locator("#edits .go")).to_have_text(f"Go on from step {STEP}")
    go_on(playground)
    fork = events(playground, server_url)
    assert plain(fork) == plain(parent)
    assert fork[0]["run"] != parent[0]["run"]
    expect(lane(playground).locator(".lane-message")).to_contain_text(
        f"A fork of step {STEP} of the run before, without"
    )


def test_a_pin_holds_from_its_step_to_the_commit(playground: Page, server_url: str) -> None:
    told(playground)
    parent = events(playground, server_url)
    go_to(playground, STEP)
    lane(playground).locator(f".lane-text [data-p='{POSITION}']").click()
    playground.locator("#edits .edit-text").fill("purple")
    playground.locator("#edits .edit-text").press("Enter")
    chip = playground.locator("#edits .edit-chip[data-state=added]")
    expect(chip).to_contain_text(f"from position {POSITION + 1} on · step {STEP}")
    go_on(playground)
    fork = events(playground, server_url)
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
    go_to(playground, STEP)
    marked = lane(playground).locator(".lane-text .s-pinned:visible")
    assert [mark.get_attribute("data-p") for mark in marked.all()] == [str(at) for at in span]
    lane(playground).get_by_role("button", name="Back to it").click()
    expect(lane(playground)).to_have_attribute("data-run", parent[0]["run"])


def test_a_span_is_renoised_and_parameters_change_with_it(playground: Page, server_url: str) -> None:
    told(playground)
    parent = events(playground, server_url)
    go_to(playground, STEP)
    lane(playground).locator(".lane-text [data-p='2']").click()
    lane(playground).locator(".lane-text").focus()
    playground.keyboard.press("Shift+ArrowRight")
    playground.keyboard.press("Shift+ArrowRight")
    expect(playground.locator(".edit-where")).to_have_text("Positions 3–5")
    playground.locator("#edits").get_by_role("button", name="One position less").click()
    expect(playground.locator(".edit-where")).to_have_text("Positions 3–4")
    expect(lane(playground).locator(".lane-text .t.selected:visible")).to_have_count(2)
    playground.get_by_role("button", name="Renoise").click()
    playground.locator("#entropy-bound-value").fill("2.5")
    playground.get_by_role("button", name="Set bound 2.5").click()
    expect(playground.locator("#edits .edit-chip[data-state=added]")).to_have_count(2)
    go_on(playground)
    fork = events(playground, server_url)
    assert fork[-1]["recipe"]["edits"] == [
        {"type": "renoise", "canvas": 0, "step": STEP, "start": 2, "length": 2},
        {"type": "set", "canvas": 0, "step": STEP, "sampler": {"entropy_bound": 2.5}},
    ]
    assert {step["entropy_bound"] for step in steps(fork) if step["step"] >= STEP} == {2.5}
    assert {step["entropy_bound"] for step in steps(fork) if step["step"] < STEP} == {0.1}
    fed, before = steps(fork)[STEP - 1]["fed_ids"], steps(parent)[STEP - 2]["canvas_ids"]
    assert [at for at, (a, b) in enumerate(zip(fed, before, strict=True)) if a != b] == [2, 3]


def test_an_edit_can_be_taken_back_before_and_after_it_has_run(playground: Page, server_url: str) -> None:
    told(playground, SUM)
    parent = events(playground, server_url)
    go_to(playground, 1)
    lane(playground).locator(".lane-text [data-p='1']").click()
    playground.locator("#edits .edit-text").fill("9")
    playground.get_by_role("button", name="Pin", exact=True).click()
    playground.get_by_role("button", name="Renoise").click()
    playground.get_by_role("button", name=re.compile("^Remove: renoise")).click()
    expect(playground.locator("#edits .edit-chip")).to_have_count(1)
    go_on(playground)
    assert [edit["type"] for edit in events(playground, server_url)[-1]["recipe"]["edits"]] == ["pin"]
    playground.get_by_role("button", name=re.compile("^Remove: pin")).click()
    expect(playground.locator("#edits .edit-chip[data-state=left]")).to_have_count(1)
    go_on(playground)
    assert plain(events(playground, server_url)) == plain(parent)


def test_a_wrong_edit_says_so_where_it_stands(playground: Page) -> None:
    told(playground, SUM)
    go_to(playground, 1)
    lane(playground).locator(".lane-text [data-p='3']").click()
    playground.locator("#edits .edit-text").fill("many words " * 90)
    playground.get_by_role("button", name="Pin", exact=True).click()
    playground.locator("#edits .go").click()
    expect(playground.locator("#edits .field-error")).to_contain_text("reach over the canvas of 64")
    expect(playground.locator("#edits .edit-chip[data-state=added]")).to_have_count(1)
    playground.get_by_role("button", name="Discard").click()
    expect(playground.locator("#edits .field-error")).to_have_count(0)
    playground.locator("#start select").select_option("infill")
    playground.locator(".start-text").fill("no hole at all")
    playground.locator("#run").click()
    expect(playground.locator("#start .field-error")).to_contain_text("The text has no hole")
    playground.locator(".start-text").fill("one ___{1}")
    expect(playground.locator("#start .field-error")).to_have_count(0)


def test_holes_are_filled_and_the_rest_comes_back_untouched(playground: Page, server_url: str) -> None:
    playground.locator("#start select").select_option("infill")
    playground.get_by_role("button", name="JSON skeleton").click()
    text = playground.locator(".start-text").input_value()
    told(playground, "Make JSON: name Zoe, age 31, city Rome")
    end = events(playground, server_url)[-1]
    assert end["recipe"]["edits"] == [{"type": "infill", "text": text}]
    parts = [re.escape(part) for part in re.split(r" ?___\{\d+\}", text)]
    assert re.fullmatch("(?s)" + "(.*)".join(parts), end["text"]), end["text"]
    expect(playground.locator("#edits .edit-chip")).to_contain_text("fill holes in")


def test_a_text_of_ones_own_at_a_noise_level(playground: Page, server_url: str) -> None:
    told(playground, SUM)
    playground.locator("#start select").select_option("canvas")
    playground.get_by_role("button", name="The answer shown").click()
    playground.get_by_label("Noise level").fill("0.25")
    told(playground, SUM)
    [edit] = events(playground, server_url)[-1]["recipe"]["edits"]
    assert edit["type"] == "canvas"
    assert edit["noise"] == 0.25
    assert edit["text"] == events(playground, server_url)[-1]["text"]
    playground.locator("#start select").select_option("noise")
    told(playground, SUM)
    assert events(playground, server_url)[-1]["recipe"]["edits"] == []


def test_an_autoregressive_run_is_forked_by_its_parameters(playground: Page, server_url: str) -> None:
    playground.locator("#mode").get_by_text("AR", exact=True).click()
    told(playground, SUM)
    parent = events(playground, server_url, "autoregressive")
    playground.locator(".lane[data-mode=autoregressive] .timeline").focus()
    playground.keyboard.press("Home")
    playground.keyboard.press("ArrowRight")
    box = playground.locator("#temperature input[type=number]")
    box.fill("0")
    box.blur()
    playground.get_by_role("button", name="Set τ 0").click()
    expect(playground.locator("#edits .go")).to_have_text("Go on from token 2")
    playground.locator("#edits .go").click()
    ar = ".lane[data-mode=autoregressive]"
    playground.wait_for_function(f"document.querySelector('{ar}').dataset.run !== '{parent[0]['run']}'")
    finished(playground)
    fork = events(playground, server_url, "autoregressive")
    assert fork[-1]["recipe"]["edits"] == [{"type": "set", "index": 1, "decoding": {"temperature": 0}}]
    tokens = [event for event in fork if event["type"] == "token"]
    assert [token["temperature"] for token in tokens] == [1, *[0] * (len(tokens) - 1)]


def test_a_fork_of_a_run_that_is_going_on_ends_it(playground: Page, server_url: str) -> None:
    run(playground, STORY, speed="4")
    lane(playground).locator("[data-fact=step]").get_by_text(re.compile("^[3-9] of")).wait_for()
    first = lane(playground).get_attribute("data-run")
    lane(playground).locator(".timeline").focus()
    playground.keyboard.press("Home")
    playground.keyboard.press("ArrowRight")
    playground.get_by_role("button", name="Renoise").click()
    lane(playground).locator(".speed").select_option("null")
    go_on(playground)
    assert events(playground, server_url)[-1]["stop_reason"] == "end_of_turn"
    playground.wait_for_function(
        f"fetch('{server_url}api/runs/{first}').then(async (r) => (await r.json()).stop_reason === 'cancelled')"
    )
    assert json.dumps(events(playground, server_url)[-1]["recipe"]["edits"]).count("renoise") == 1
