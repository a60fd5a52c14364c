"""Two runs on one clock, with the real server and the embedded model."""

import re

from playwright.sync_api import Page, expect

from tests.test_browser import STORY, SUM, events, finished, run
from tests.watching import SECONDS

READ_RACE = """() => ({
  lead: document.querySelector('.race-lead').textContent,
  rows: [...document.querySelectorAll('.race tbody tr')].map((row) => ({
    cells: [...row.cells].map((cell) => cell.textContent), ahead: row.hasAttribute('data-ahead') })),
})"""


def test_a_race_is_run_on_the_devices_clock(playground: Page, server_url: str) -> None:
    playground.get_by_text("Side by side").click()
    run(playground, SUM)
    finished(playground)
    logs = [events(playground, server_url), events(playground, server_url, "autoregressive")]
    playground.get_by_role("button", name="Race", exact=True).click()
    playground.keyboard.press(" ")
    strip = playground.locator(".race .timeline")
    length = float(strip.get_attribute("aria-valuemax") or 0) * 1000
    playground.keyboard.press("Home")
    for _ in range(41):
        ms = float(strip.get_attribute("aria-valuenow") or 0) * 1000
        race = playground.evaluate(READ_RACE)
        tokens = []
        for log, row in zip(logs, race["rows"], strict=True):
            near = [event for event in log if abs(event.get("device_ms", -1e9) - ms) < 1]
            past = [event for event in log if event.get("device_ms", 1e9) <= ms]
            passes = sum(event["type"] in ("step", "token") for event in past)
            done = sum(len(event.get("ids", [0])) for event in past if event["type"] in ("token", "canvas_committed"))
            if not near:
                assert row["cells"][1] == str(passes)
                assert row["cells"][2].split(" ")[0] == str(done)
            tokens.append(done if not near else None)
        if None not in tokens and max(log[-2]["device_ms"] for log in logs) > ms and tokens[0] != tokens[1]:
            ends = [log[-2]["device_ms"] <= ms for log in logs]
            if not any(ends):
                assert race["rows"][tokens.index(max(tokens))]["ahead"]
        playground.keyboard.press("ArrowRight")
    ends = [log[-2]["device_ms"] for log in logs]
    assert abs(length - max(ends)) < 1
    first = "Diffusion" if ends[0] < ends[1] else "Autoregressive"
    expect(playground.locator(".race-lead")).to_contain_text(f"{first} was done first, by ")
    used = logs[0][-1]["metrics"]["total_tokens"]
    expect(playground.locator(".race-fine")).to_contain_text(f"Diffusion: paid for a canvas of 64, used {used}.")
    expect(playground.locator(".lane[data-mode=autoregressive] [data-fact=token]")).to_have_text(
        str(len([event for event in logs[1] if event["type"] == "token"]))
    )
    playground.keyboard.press("Escape")
    expect(playground.locator(".race-lead")).to_be_hidden()
    expect(playground.locator(".lane .player").first).to_be_visible()


def test_a_run_races_the_one_before_it(playground: Page) -> None:
    for bound in ("0.1", "10"):
        playground.locator("#entropy-bound-value").fill(bound)
        run(playground, STORY)
        finished(playground)
    playground.get_by_role("button", name="Race", exact=True).click()
    rival = playground.locator(".lane[data-mode=rival]")
    expect(rival).to_be_visible()
    expect(rival.locator(".lane-message")).to_have_text("With bound 0.1 instead of 10.")
    playground.keyboard.press("End")
    expect(playground.locator(".race-lead")).to_contain_text("was done first, by ")
    playground.get_by_role("button", name="End race").click()
    expect(rival).to_be_hidden()
    playground.get_by_role("button", name="Run AR and race it").click()
    expect(playground.locator(".race tbody th").nth(1)).to_have_text(re.compile("Autoregressive"), timeout=90 * SECONDS)
