"""The documentation says what is: its commands, settings, files, links and examples are checked."""

import json
import re
import shlex
from pathlib import Path
from typing import Any, get_args

import pytest
import typer.main

from playground import cli, events
from playground.lessons import claims, reading
from playground.lessons.lesson import CONTROLS
from playground.recipe import Recipe
from playground.settings import Settings
from playground.web import messages
from playground.web.roomtalk import RoomState

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PROTOCOL = (ROOT / "docs" / "protocol.md").read_text()

FENCE = re.compile(r"^```(\w*) ?(\w*)\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
TABLE_ROW = re.compile(r"^\| `PLAYGROUND_(\w+)` \| (?:`([^`]*)`)? ?\| .+ \|$", re.M)


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """Language, mark and text of each fenced block."""
    return FENCE.findall(page.read_text())


def commands(page: Path) -> list[list[str]]:
    """Every `playground …` command line in the shell blocks, without the command itself."""
    lines = "\n".join(text for language, _, text in blocks(page) if language == "sh").splitlines()
    words = [shlex.split(line, comments=True) for line in lines if re.match(r"(\.venv/bin/)?playground ", line)]
    return [line[1 : line.index("<") if "<" in line else None] for line in words]


def test_the_settings_table_is_the_settings() -> None:
    rows = re.findall(r"^\| (`.+`) \|", page.read_text(), re.M)
    told = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert {*reading.FIELDS, *claims.NUMBERS, *claims.WORDS} <= told
    assert all(f"`{control}`" in page.read_text() for control in CONTROLS)


def test_every_message_has_an_example() -> None:
    shown = {json.loads(text)["type"] for language, mark, text in FENCE.findall(PROTOCOL) if mark == "client"}
    kinds = [kind.model_fields["type"].annotation for kind in get_args(messages.ClientMessage)]
    assert shown == {get_args(kind)[0] for kind in kinds}


def test_every_event_has_an_example() -> None:
    shown = {json.loads(text)["type"] for language, mark, text in FENCE.findall(PROTOCOL) if mark == "server"}
    assert shown == set(events.adapter.json_schema()["discriminator"]["mapping"])
