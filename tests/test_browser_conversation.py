"""A conversation at the page: its turns are seen, one's own can be changed and run from, an answer gone back to."""

import json
import re
import subprocess
import sys
from typing import Any

from playwright.sync_api import Locator, Page, expect
from websockets.sync.client import connect

from tests.conftest import ROOT
from tests.test_browser import SUM, events, finished, run
from tests.test_browser_edits import plain
from tests.watching import visit

TURNS = [
    {"role": "user", "content": SUM},
    {"role": "assistant", "content": "47 + 38 = 85"},
    {"role": "user", "content": "Name 3 fruits."},
    {"role": "assistant", "content": "apple, pear, plum"},
    {"role": "user", "content": "What is 12 + 5?"},
]
EDITED = "Name 4 fruits."
PINNED = {"type": "pin", "canvas": 0, "step": 1, "start": 0, "text": "fig", "ids": None}


FRESH = """
import sys
from playground.engine import models, runs
from playground.engine.steering import Steering
from playground.recipe import Recipe
from playground.settings import Settings
recipe = Recipe.model_validate_json(sys.stdin.read())
for event in runs.events(models.load(Settings()), recipe, Steering(recipe)):
    print(event.model_dump_json())
"""
"""Runs a recipe and nothing else."""


def ran(url: str, recipe: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of a recipe, run on a socket of its own."""
    log = []
    with connect(f"{url.replace('http', 'ws', 1)}ws", proxy=None, max_size=None) as socket:
        socket.send(json.dumps({"type": "start", "recipe": recipe}))
        while not log or log[-1]["type"] != "run_finished":
            event = json.loads(socket.recv(60))
            if "seq" in event:
                log.append(event)
                socket.send(json.dumps({"type": "ack", "run": event["run"], "seq": event["seq"]}))
    return sorted(log, key=lambda event: int(event["seq"]))


def opened(page: Page, url: str, **fields: Any) -> str:
    """Opens a run of three turns by its link; gives its id."""
    log = ran(url, {"messages": TURNS, "max_new_tokens": 64, "seed": 5} | fields)
    visit(page, f"{url}#run={log[0]['run']}")
    expect(rows(page)).to_have_count(4)
    return str(log[0]["run"])


def bare(log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events without times and numbers, and without the alternatives."""
    return [
        {name: value for name, value in event.items() if name != "seq" and not name.startswith("top_")}
        for event in plain(log)
    ]


def card(page: Page) -> Locator:
    return page.get_by_role("region", name="Conversation")


def rows(page: Page) -> Locator:
    return card(page).get_by_role("listitem")


def messages(page: Page, url: str) -> list[tuple[str, str]]:
    """What the run on show was asked, as the server has it."""
    recipe = events(page, url)[0]["recipe"]
    return [(message["role"], message["content"]) for message in recipe["messages"]]


def as_told(turns: list[dict[str, str]]) -> list[tuple[str, str]]:
    return [(turn["role"], turn["content"]) for turn in turns]


def other_run(page: Page, before: str) -> None:
    """Waits for another run to be shown, and for its end."""
    page.wait_for_function(f"document.querySelector('.lane[data-mode=diffusion]').dataset.run !== '{before}'")
    finished(page)


def test_a_turn_is_changed_and_run_from(playground: Page, server_url: str) -> None:
    before = opened(playground, server_url, edits=[PINNED])
    expect(rows(playground).locator(".turn-text")).to_have_text([turn["content"] for turn in TURNS[:-1]])
    playground.get_by_role("button", name="Edit: Name 3 fruits.").press("Enter")
    field = playground.get_by_role("textbox", name="Your turn")
    expect(field).to_be_focused()
    expect(card(playground)).to_contain_text("The prompt and the turn after it will be left out.")
    field.fill(" ")
    expect(playground.get_by_role("button", name="Run from here")).to_have_attribute("aria-disabled", "true")
    field.press("Control+Enter")
    expect(playground.locator(".lane[data-mode=diffusion]")).to_have_attribute("data-run", before)
    field.fill(EDITED)
    field.press("Control+Enter")
    other_run(playground, before)
    expect(rows(playground)).to_have_count(2)
    expect(playground.locator("#prompt textarea")).to_have_value(EDITED)
    assert messages(playground, server_url) == [*as_told(TURNS[:2]), ("user", EDITED)]
    log = events(playground, server_url)
    recipe = log[0]["recipe"]
    assert recipe["edits"] == [], "the pin belonged to the answer of another prompt"
    assert recipe["seed"] == 5
    done = subprocess.run(
        [sys.executable, "-c", FRESH], input=json.dumps(recipe), capture_output=True, text=True, check=True, cwd=ROOT
    )
    again = [json.loads(line) for line in done.stdout.splitlines()]
    assert bare(log) == bare(again), "the same as in a fresh process"
    playground.locator("button[aria-label*='heme']").click()
    expect(playground.locator("[data-fact=step]").first).to_have_text(re.compile(r"^\d+ of 48$"))


def test_what_was_left_out_can_be_had_back(playground: Page, server_url: str) -> None:
    opened(playground, server_url)
    prompt = playground.locator("#prompt textarea")
    playground.get_by_role("button", name="Reply from here: 47 + 38 = 85").click()
    expect(rows(playground)).to_have_count(2)
    expect(prompt).to_have_value("")
    expect(prompt).to_be_focused()
    expect(playground.locator("[data-speech]")).to_have_text("What came after this answer is left out.")
    playground.get_by_role("button", name="Bring back").click()
    expect(rows(playground)).to_have_count(4)
    expect(prompt).to_have_value(TURNS[-1]["content"])
    expect(playground.get_by_role("button", name="Bring back")).to_have_count(0)
    playground.get_by_role("button", name="New conversation").click()
    expect(rows(playground)).to_have_count(0)
    expect(card(playground)).to_contain_text("The earlier turns are left out.")
    playground.get_by_role("button", name="Bring back").click()
    before = playground.locator(".lane[data-mode=diffusion]").get_attribute("data-run") or ""
    playground.locator("#run").click()
    other_run(playground, before)
    assert messages(playground, server_url) == as_told(TURNS)


def test_escape_leaves_a_turn_as_it_was_also_on_a_phone(playground: Page, server_url: str) -> None:
    opened(playground, server_url)
    playground.set_viewport_size({"width": 390, "height": 844})
    edit = playground.get_by_role("button", name=f"Edit: {SUM}")
    edit.click()
    playground.keyboard.type("!!")
    playground.keyboard.press("Escape")
    expect(edit).to_be_focused()
    expect(rows(playground).locator(".turn-text").first).to_have_text(SUM)
    assert playground.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_reply_adds_the_turns_before_it_in_either_mode(playground: Page, server_url: str) -> None:
    run(playground, SUM)
    finished(playground)
    expect(card(playground)).to_have_count(0)
    answer = events(playground, server_url)[-1]["text"]
    playground.get_by_role("button", name="Reply", exact=True).click()
    expect(rows(playground).locator(".turn-text")).to_have_text([SUM, answer])
    playground.get_by_role("radio", name="AR").check(force=True)
    expect(rows(playground)).to_have_count(2)
    expect(playground.get_by_role("list", name="Also part of the next run")).to_contain_text("2 earlier turns")
    playground.get_by_role("button", name="Remove: 2 earlier turns").click()
    expect(card(playground)).to_contain_text("The earlier turns are left out.")
    playground.get_by_role("button", name="Bring back").click()
    expect(rows(playground)).to_have_count(2)
