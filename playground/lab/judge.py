"""Whether an answer is right."""

import regex

from playground.events import RunFinished
from playground.lab.cells import Question
from playground.tiny.tasks import check

LONGEST_SECONDS = 1.0
"""For a pattern on one answer."""


def right(question: Question, finished: RunFinished) -> bool | None:
    """Whether the run ended by itself with a right answer; None where nothing tells."""
    ended = finished.stop_reason == "end_of_turn"
    if question.task is not None:
        return ended and check(question.task, finished.text)
    if question.expect is not None:
        return ended and finished.text.strip() == question.expect.strip()
    if question.pattern is not None:
        return ended and _matches(question.pattern, finished.text)
    return None


def _matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found; one that takes too long, as some patterns do on some texts, is not."""
    try:
        return regex.search(pattern, text, timeout=LONGEST_SECONDS, concurrent=True) is not None
    except TimeoutError:
        return False
