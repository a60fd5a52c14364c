"""The lessons there are: those of the package, and those of a folder of one's own."""

from dataclasses import dataclass
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


def lessons(own: Path | None = None) -> tuple[list[Lesson], list[Wrong]]:
    """All lessons in their order, and what is wrong with the files that are none.

    own: a folder whose lessons come beside those of the package; one of the same name takes the other's place.
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
                lesson = read(path)
            except Mistake as mistake:
                wrong.append(Wrong(path.name, mistake.line, mistake.message))
            else:
                found[lesson.name] = lesson
    return sorted(found.values(), key=lambda lesson: (lesson.order, lesson.title)), wrong
