import io

import pytest
from rich.console import Console

from playground import events
from playground.terminal import report
from playground.terminal.lane import Lane
from tests.terminal import runs


def printed(source: list[events.Event], **options: object) -> str:
    lane = Lane()
    for event in source:
        lane.apply(event)
    console = Console(file=io.StringIO(), width=40, _environ={}, **options)
    report.show(lane, console)
    return console.file.getvalue()


def test_answer_figures_canvases_and_stop_reason() -> None:
    assert printed(runs.whole()) == (
        " red red fox\n"
        "\n"
        "3 tokens · 2 denoising steps · 2.0 effective steps · 1.50 tokens per forward pass\n"
        "0.25 s on the device · first canvas after 0.25 s · 15 tokens/s\n"
        "canvas 1: stable and confident after 2 steps, 4 of 4 positions used\n"
        "Stopped: the model ended its turn.\n"
    )


def test_text_is_made_safe() -> None:
    text = printed([*runs.whole()[:-1], runs.finished("[red]\x1b[31m")])
    assert text.startswith("[red]␛[31m\n")


@pytest.mark.parametrize(
    ("ending", "sentence"),
    [
        (runs.finished(stop_reason="max_new_tokens"), "Stopped at the limit of 256 new tokens."),
        (
            runs.finished(stop_reason="max_new_tokens", trimmed=1),
            "Stopped at the limit of 256 new tokens; 1 token beyond it left out.",
        ),
        (runs.finished(stop_reason="cancelled"), "Cancelled."),
    ],
)
def test_stop_reasons_are_sentences(ending: events.RunFinished, sentence: str) -> None:
    assert printed([*runs.whole()[:-1], ending]).endswith(sentence + "\n")


def test_an_error_is_told() -> None:
    error = events.Error(code="out_of_memory", message="the device ran out of memory")
    text = printed([runs.started(), error, runs.finished("", stop_reason="error")])
    assert "Stopped by an error: the device ran out of memory" in text


def test_what_a_cancelled_canvas_had_is_shown_as_a_draft() -> None:
    text = printed([*runs.whole()[:4], runs.finished("", stop_reason="cancelled")])
    assert text.startswith("draft, not committed:  red red fox\n")


def test_lines_are_wrapped_on_a_terminal_only() -> None:
    source = [*runs.whole()[:-1], runs.finished("word " * 20)]
    assert "word " * 20 in printed(source)
    assert max(len(line) for line in printed(source, force_terminal=True, color_system=None).splitlines()) <= 40
