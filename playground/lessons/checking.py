"""A lesson file held against its runs, in sentences: what is wrong in it, which claims hold, which seeds show them."""

from collections.abc import Callable
from pathlib import Path

from playground.errors import PlaygroundError
from playground.lessons.lesson import Lesson, Mistake
from playground.lessons.proving import Recorded, RunIt, prove
from playground.lessons.reading import read

Say = Callable[[str], None]


def check_lesson(file: Path, say: Say, run: RunIt | None, recorded: Recorded, seeds: int) -> int:
    """The exit code: 0 all is well, 1 a claim does not hold (or no seed below `seeds` makes all hold).

    run: makes a recipe's events; without it the file is only read. recorded: gives those of a recording.

    Raises `PlaygroundError` (field `file`), which names the line.
    """
    try:
        found = read(file)
    except Mistake as mistake:
        raise PlaygroundError("bad_request", f"{file}, line {mistake.line}: {mistake.message}", "file") from None
    if run is None:
        say(f"{file}: {found.title}, {_count(len(found.parts), 'part')}, {_count(_claims(found), 'claim')}")
        return 0
    return _find_seed(found, say, run, recorded, seeds) if seeds else _hold(found, say, run, recorded)


def _hold(lesson: Lesson, say: Say, run: RunIt, recorded: Recorded) -> int:
    fine = True
    for finding in prove(lesson, run, recorded):
        fine &= finding.holds
        found = f"{finding.found:g}" if isinstance(finding.found, float) else str(finding.found).replace("\n", " ")[:60]
        say(f"  {'holds' if finding.holds else 'FAILS'}  line {finding.line}: {finding.claim.text} (it is {found})")
    return 0 if fine else 1


def _find_seed(lesson: Lesson, say: Say, run: RunIt, recorded: Recorded, seeds: int) -> int:
    """Says every seed below `seeds` with which all claims hold."""
    good = []
    for seed in range(seeds):
        if all(finding.holds for finding in prove(lesson, run, recorded, seed)):
            good.append(seed)
            say(f"  seed {seed}: all claims hold")
    if not good:
        say(f"  no seed below {seeds} makes all claims hold")
    return 0 if good else 1


def _claims(lesson: Lesson) -> int:
    return sum(len(run.shows) for run in (lesson.run, *(part.run for part in lesson.parts)) if run)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
