"""The documentation says what is: its commands, settings, files, links and examples are checked."""

import json
import re
import shlex
import tomllib
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
    told = {name.lower(): default for name, default in TABLE_ROW.findall(README.read_text())}
    real = {name: field.default for name, field in Settings.model_fields.items()}
    assert told == {name: "" if default == () else str(default) for name, default in real.items()}


@pytest.mark.parametrize("words", [words for page in PAGES for words in commands(page)], ids=" ".join)
def test_every_command_shown_exists_with_its_options(words: list[str]) -> None:
    command: Any = typer.main.get_command(cli.app)
    while hasattr(command, "commands"):
        command = command.commands[words[0]]
        words = words[1:]
    known = {name for parameter in command.params for name in parameter.opts} | {"--help"}
    assert {word for word in words if word.startswith("--")} <= known


def test_every_command_there_is_is_shown() -> None:
    shown = {words[0] for page in PAGES for words in commands(page)}
    assert shown == set(typer.main.get_command(cli.app).commands)


def test_a_gradio_space_installs_the_dependencies() -> None:
    """requirements.txt and pyproject.toml have the same ones."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    assert listed == project["dependencies"]


def test_the_block_for_a_space_is_what_the_image_does() -> None:
    block = README.read_text().split("---\n")[1]
    facts = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
    image = (ROOT / "Dockerfile").read_text()
    assert facts["sdk"] == "docker"
    assert f"EXPOSE {facts['app_port']}\n" in image
    assert f"PLAYGROUND_PORT={facts['app_port']} " in image
    assert "useradd --create-home --uid 1000 user" in image
    assert len(facts["short_description"]) <= 60


def test_the_trees_files_exist() -> None:
    (tree,) = [text for language, _, text in blocks(README) if language == "text"]
    folders: list[str] = []
    for line in tree.splitlines():
        name, note = line.split(None, 1)
        assert note.strip(), line
        depth = (len(line) - len(line.lstrip())) // 2
        path = ROOT.joinpath(*folders[:depth], name)
        assert path.is_dir() if name.endswith("/") else path.is_file(), path
        folders[depth:] = [name]


def test_the_tree_names_every_part() -> None:
    (tree,) = [text for language, _, text in blocks(README) if language == "text"]
    parts = {path.parent.name for path in (ROOT / "playground").glob("*/__init__.py")}
    assert not {part for part in parts if f"  {part}/ " not in tree}


@pytest.mark.parametrize("document", PAGES, ids=lambda document: str(document.relative_to(ROOT)))
def test_relative_links_and_images_resolve(document: Path) -> None:
    for target in LINK.findall(FENCE.sub("", document.read_text())):
        if not target.startswith(("http://", "https://", "#")):
            assert (document.parent / target.split("#")[0]).exists(), target


@pytest.mark.parametrize(("mark", "text"), [(mark, text) for language, mark, text in FENCE.findall(PROTOCOL) if mark])
def test_every_example_of_the_protocol_is_valid(mark: str, text: str) -> None:
    match mark:
        case "client":
            messages.parse(text)
        case "server":
            events.adapter.validate_json(text)
        case "recipe":
            assert Recipe.model_validate_json(text).model_dump(mode="json").keys() == json.loads(text).keys()
        case "room":
            assert RoomState.model_validate_json(text).model_dump(exclude_unset=True).keys() == set(json.loads(text))
        case "control":
            assert set(json.loads(text)) == {"type", "run", "token", "ref"}
        case _:
            pytest.fail(f"unknown mark {mark}")


def test_the_lesson_shown_is_one_and_every_measure_is_named() -> None:
    page = ROOT / "docs" / "teaching.md"
    (example,) = [text for language, _, text in blocks(page) if language == "md"]
    lesson = reading.parse(example, "example")
    assert lesson.parts[0].choices
    assert lesson.parts[0].run is not None
    assert lesson.parts[0].seen
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
