"""Whether an answer is right."""

import re

from playground.events import RunFinished
from playground.lab.cells import Question
from playground.tiny.tasks import check


def right(question: Question, finished: RunFinished) -> bool | None:
    """Whether the run ended by itself with a right answer; None where nothing tells."""
    ended = finished.stop_reason == "end_of_turn"
    if question.task is not None:
        return ended and check(question.task, finished.text)
    if question.expect is not None:
        return ended and finished.text.strip() == question.expect.strip()
    if question.pattern is not None:
        return ended and re.search(question.pattern, finished.text) is not None
    return None
