"""The lessons there are: those of the package, and those of a folder of one's own."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from playground.lessons.lesson import FOLDER, Lesson, Mistake
from playground.lessons.reading import read


@dataclass(frozen=True)
class Wrong:
    """A lesson file that cannot be used."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.message}"


def lessons(own: Path | None = None, recorded: Collection[str] | None = None) -> tuple[list[Lesson], list[Wrong]]:
    """All lessons in their order, and what is wrong with the files that are none.

    own: a folder whose lessons come beside those of the package; one of the same name takes the other's place.
    recorded: the names of the recordings there are; a lesson that shows another one is wrong. None: any will do.
    """
    found: dict[str, Lesson] = {}
    wrong: list[Wrong] = []
    for folder in (FOLDER, own):
        if folder is None:
            continue
        if not folder.is_dir():
            wrong.append(Wrong(str(folder), 1, "there is no such folder; PLAYGROUND_LESSONS names it."))
            continue
        for path in sorted(folder.glob("*.md")):
            if path.name.lower() == "readme.md":
                continue
            try:
                lesson = _known(path)
                _check_recordings(lesson, recorded)
            except Mistake as mistake:
                wrong.append(Wrong(path.name, mistake.line, mistake.message))
            else:
                found[lesson.name] = lesson
    return sorted(found.values(), key=lambda lesson: (lesson.order, lesson.title)), wrong


def _known(path: Path) -> Lesson:
    """The lesson in a file, read again only when the file has changed: a class opens one all at once."""
    try:
        status = path.stat()
    except OSError as error:
        raise Mistake(1, f"the file cannot be read: {error.strerror}.") from None
    found = _read(path, status.st_mtime_ns, status.st_size)
    if isinstance(found, Mistake):
        raise Mistake(found.line, found.message)
    return found


@lru_cache(maxsize=256)
def _read(path: Path, _changed: int, _size: int) -> Lesson | Mistake:
    try:
        return read(path)
    except Mistake as mistake:
        return mistake


def _check_recordings(lesson: Lesson, recorded: Collection[str] | None) -> None:
    """Raise `Mistake` where a recording is not there."""
    for line, name in lesson.recordings:
        if recorded is not None and name not in recorded:
            raise Mistake(
                line, f"there is no recording {name!r} on this server; PLAYGROUND_RECORDINGS names the folder."
            )
