"""Reads a lesson file: a header between two lines of `---`, then parts that begin with `## `."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from playground.lessons import claims, markdown, runs
from playground.lessons.lesson import CONTROLS, Choice, Lesson, Mistake, Mode, Part, Run
from playground.lessons.runs import Lines

EDGE = "---"
FIELDS = ("title", "order", "minutes", "mode", "controls", "recipe", "recording", "shows")
NAME = re.compile(r"[a-z0-9-]{1,64}")
CHOICE = re.compile(r"- \[([ xX])\] (.*)")
FENCE = re.compile(r"(```+|~~~+)\s*(\w*)\s*")
MOST_CHARACTERS = 100_000
MOST_DIGITS = 6


def read(path: Path) -> Lesson:
    """The lesson in a file. Raises `Mistake`, with the line."""
    if not NAME.fullmatch(path.stem):
        raise Mistake(1, "the file's name may have small letters, digits and hyphens: it becomes part of links.")
    try:
        if not path.is_file():
            raise Mistake(1, "the file cannot be read: there is no such file.")
        if (size := path.stat().st_size) > 4 * MOST_CHARACTERS:
            raise Mistake(1, f"a lesson may have {MOST_CHARACTERS} characters, and this file has {size} bytes.")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Mistake(1, f"the file cannot be read as text: {error}.") from None
    return parse(text, path.stem)


def parse(text: str, name: str) -> Lesson:
    """The lesson in a text. Raises `Mistake`, with the line."""
    if len(text) > MOST_CHARACTERS:
        raise Mistake(1, f"a lesson may have {MOST_CHARACTERS} characters, and this one has {len(text)}.")
    lines: Lines = list(enumerate(text.splitlines(), start=1))
    header, rest = _header(lines)
    base = _Base(header)
    introduction, sections = _sections(rest)
    if not sections:
        raise Mistake(lines[-1][0], "the lesson has no part; a part begins with `## ` and its title.")
    return Lesson(
        name=name,
        title=base.text("title"),
        order=base.number("order", 1000),
        minutes=base.number("minutes", 5),
        mode=base.mode,
        controls=base.controls,
        summary=_tree(introduction),
        run=base.run,
        parts=tuple(_part(title, body, base) for title, body in sections),
    )


@dataclass
class _Header:
    """The fields of a header, with their lines."""

    end: int
    fields: dict[str, tuple[int, str]] = field(default_factory=dict)
    shows: Lines = field(default_factory=list)


def _header(lines: Lines) -> tuple[_Header, Lines]:
    if not lines or lines[0][1].strip() != EDGE:
        raise Mistake(1, "a lesson begins with a header, and a header with a line `---`.")
    end = next((at for at, line in lines[1:] if line.strip() == EDGE), None)
    if end is None:
        raise Mistake(lines[-1][0], "the header has no end; a second line `---` ends it.")
    header = _Header(end)
    name = ""
    for at, line in lines[1 : end - 1]:
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            if name not in header.fields:
                raise Mistake(at, "this line goes on with a field, and none goes on here.")
            first, value = header.fields[name]
            header.fields[name] = first, f"{value}\n{line.strip()}"
            continue
        name, colon, value = line.partition(":")
        name = name.strip()
        if not colon or name not in FIELDS:
            raise Mistake(at, f"{name[:40]!r} is not known; a header has {', '.join(FIELDS)}.")
        if name == "shows":
            header.shows.append((at, value))
        elif name in header.fields:
            raise Mistake(at, f"{name} stands twice; it may stand once.")
        else:
            header.fields[name] = at, value.strip()
    return header, lines[end:]


class _Base:
    """What the header says, checked field by field."""

    def __init__(self, header: _Header) -> None:
        self._header = header
        mode = header.fields.get("mode", (0, "diffusion"))
        if mode[1] not in get_args(Mode):
            raise Mistake(mode[0], f"mode must be one of {', '.join(get_args(Mode))}, not {mode[1]!r}.")
        self.mode: Any = mode[1]
        at, named = header.fields.get("controls", (0, ""))
        self.controls = tuple(control.strip() for control in named.split(",") if control.strip())
        for control in self.controls:
            if control not in CONTROLS:
                raise Mistake(at, f"controls: {control!r} is not known; there are {', '.join(CONTROLS)}.")
        at, name = header.fields.get("recording", (0, ""))
        if name and "recipe" in header.fields:
            raise Mistake(at, "a header has a recipe or a recording; the other one may stand in a part.")
        if name:
            self.recipe: dict[str, Any] = {}
            self.run = runs.recording(name, header.shows, at)
        else:
            at, recipe = self._field("recipe", ", or a recording in its place")
            self.recipe = runs.json_object(recipe, at)
            self.run = Run(recipe=runs.recipe(self.recipe, at), shows=runs.claims_in(header.shows), line=at)

    def _field(self, name: str, otherwise: str = "") -> tuple[int, str]:
        at, value = self._header.fields.get(name, (0, ""))
        if not value:
            raise Mistake(at or self._header.end, f"{name} is missing; every lesson has one{otherwise}.")
        return at, value

    def text(self, name: str) -> str:
        return self._field(name)[1]

    def number(self, name: str, usual: int) -> int:
        at, value = self._header.fields.get(name, (0, str(usual)))
        if not value.isdecimal() or len(value) > MOST_DIGITS:
            raise Mistake(at, f"{name} must be a whole number of at most {MOST_DIGITS} digits, not {value[:40]!r}.")
        return int(value)


def _sections(lines: Lines) -> tuple[Lines, list[tuple[tuple[int, str], Lines]]]:
    """What comes before the first part, and each part's title and lines."""
    introduction: Lines = []
    sections: list[tuple[tuple[int, str], Lines]] = []
    fence, begun = "", 0
    for at, line in lines:
        found = FENCE.match(line)
        if found and (not fence or line.strip() == fence):
            fence, begun = ("", 0) if fence else (found[1], at)
        if not fence and line.startswith("## "):
            sections.append(((at, line[3:].strip()), []))
        else:
            (sections[-1][1] if sections else introduction).append((at, line))
    if fence:
        raise Mistake(begun, f"the block that begins here has no end; a line {fence} ends it.")
    return introduction, sections


def _part(title: tuple[int, str], lines: Lines, base: _Base) -> Part:
    at, words = title
    if not words:
        raise Mistake(at, "the part has no title.")
    text: Lines = []
    then: Lines = []
    run: Run | None = None
    seen: tuple[claims.Claim, ...] = ()
    choices: list[Choice] = []
    because: Lines = []
    for kind, begun, block in _blocks(lines):
        if kind in ("recipe", "recording"):
            if run is not None:
                raise Mistake(begun, "a part has one recipe or one recording; this is its second.")
            run = runs.changed(block, base.recipe, base.run, begun) if kind == "recipe" else runs.shown(block, begun)
        elif kind == "seen":
            seen += runs.claims_in(block)
            runs.forbid(
                "base.", seen, block[0][0] if block else begun, "the page knows only the run on show, and no base."
            )
        elif kind == "choice":
            (number, line), *_ = block
            found = CHOICE.match(line)
            assert found is not None
            choices.append(Choice(right=found[1] != " ", text=_tree([(number, found[2])])))
        elif choices:
            because += block
        elif run is not None or seen:
            then += block
        else:
            text += block
    if choices and sum(choice.right for choice in choices) != 1:
        raise Mistake(at, "a question has one right answer, marked `- [x]`, and others marked `- [ ]`.")
    return Part(
        title=words,
        text=_tree(text),
        run=run,
        seen=seen,
        then=_tree(then),
        choices=tuple(choices),
        because=_tree(because),
    )


def _blocks(lines: Lines) -> Iterator[tuple[str, int, Lines]]:
    """The blocks of a part, with the line where each begins: `recipe`, `recording` and `seen` without their fences,
    each `choice`, and `text` for the rest."""
    fence, kind, begun = "", "", 0
    block: Lines = []
    for at, line in lines:
        found = FENCE.match(line)
        if fence:
            if line.strip() == fence:
                yield kind, begun, block
                fence, block = "", []
            else:
                block.append((at, line))
        elif found and found[2] in ("recipe", "recording", "seen"):
            fence, kind, begun, block = found[1], found[2], at, []
        elif CHOICE.match(line):
            yield "choice", at, [(at, line)]
        else:
            yield "text", at, [(at, line)]


def _tree(lines: Lines) -> list[Any]:
    return markdown.tree("\n".join(line for _, line in lines), lines[0][0]) if lines else []
