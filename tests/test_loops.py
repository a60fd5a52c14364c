"""Loops: degenerate repetition is found, and what only looks like it is not."""

import pytest

from playground import loops
from playground.events import CanvasCommitted, Loop, RunStarted, Token
from playground.metrics import Meter
from playground.recipe import Recipe

TEXTS = {1: "<end>", 2: " the", 3: " fox", 4: " ran", 5: "\n", 9: " so"}
PROMPT = "Tell a story."


def test_a_repetition_is_the_shortest_stretch_to_the_end() -> None:
    assert loops.repetition([9, 2, 3] + [2, 4] * 6) == Loop(start=3, size=2, times=6)
    assert loops.repetition([3] + [2] * 12) == Loop(start=1, size=1, times=12)
    assert loops.repetition([9] + [2, 3, 4] * 7 + [2, 3]) == Loop(start=1, size=3, times=7)


@pytest.mark.parametrize(
    "ids", [[], [2], [2, 2], list(range(60)), [2] * 12 + [3], [2] * 5, list(range(9)) * 9], ids=lambda ids: str(ids[:9])
)
def test_no_repetition(ids: list[int]) -> None:
    assert loops.repetition(ids) is None


def test_a_canvas_that_repeats_to_its_edge_and_stopped_early_is_a_loop() -> None:
    ids = [9, *([2, 3] * 10)]
    loop = loops.of_canvas(ids, False, "stable_and_confident", TEXTS, PROMPT)
    assert loop == Loop(start=1, size=2, times=10)


def test_what_ended_by_itself_or_took_all_its_steps_is_no_loop() -> None:
    assert loops.of_canvas([2, 3] * 10 + [1], True, "stable_and_confident", TEXTS, PROMPT) is None
    assert loops.of_canvas([2, 3] * 10, False, "max_denoising_steps", TEXTS, PROMPT) is None


@pytest.mark.parametrize(
    "prompt",
    [
        "Say 'the fox' fifty times.",
        "Repeat: fox the",
        "SAY THE   FOX NOW",
        "Wiederhole: the fox",
        "Schreib „the fox“ hundertmal.",
        "Go on: a dog. The fox, the fox, the fox",
    ],
)
def test_what_was_asked_for_is_no_loop(prompt: str) -> None:
    assert loops.of_canvas([2, 3] * 10, False, "stable_and_confident", TEXTS, prompt) is None


@pytest.mark.parametrize("prompt", ["Tell a story about the fox.", "Write a poem: one of the fox", "What is the fox?"])
def test_what_stands_in_the_prompt_by_the_way_is_not_asked_for(prompt: str) -> None:
    """Nearly any prompt has a “the”."""
    assert loops.of_canvas([9] + [2] * 20, False, "stable_and_confident", TEXTS, prompt) is not None
    assert loops.of_canvas([2, 3] * 10, False, "stable_and_confident", TEXTS, prompt) is not None


@pytest.mark.parametrize(
    ("words", "prompt", "asked"),
    [
        ("ha", "Say that 20 times.", False),
        ("ha", "Say ha 20 times.", True),
        ("-", "Draw a line of “-”", True),
        ("", "Say", False),
    ],
)
def test_words_stand_there_as_words(words: str, prompt: str, asked: bool) -> None:
    assert loops.asked_for(words, prompt) is asked


def test_empty_lines_without_end_are_a_loop() -> None:
    assert loops.of_canvas([9] + [5] * 20, False, "stable_and_confident", TEXTS, PROMPT) is not None


def test_an_autoregressive_loop_needs_collapsed_entropy_too() -> None:
    ids = [9] + [2] * 10
    assert loops.of_tokens(ids, [2.0, 1.5] + [0.01] * 9, False, TEXTS, PROMPT) == Loop(start=1, size=1, times=10)
    assert loops.of_tokens(ids, [2.0] * 11, False, TEXTS, PROMPT) is None
    assert loops.of_tokens(ids, [0.0] * 11, True, TEXTS, PROMPT) is None


def started(mode: str) -> RunStarted:
    recipe = Recipe.model_validate({"mode": mode, "messages": [{"role": "user", "content": PROMPT}]})
    return RunStarted(
        recipe=recipe,
        model_revision="r",
        canvas_length=8,
        vocab_size=10,
        prompt_ids=[9],
        end_ids=[1],
        device="cpu",
        dtype="float32",
        created="now",
        version="0",
        texts=TEXTS,
    )


def test_the_metrics_count_loops() -> None:
    meter = Meter()
    meter.see(started("diffusion"))
    for canvas, loop in enumerate((None, Loop(start=0, size=1, times=8), Loop(start=0, size=1, times=8))):
        meter.see(
            CanvasCommitted(
                canvas=canvas,
                ids=[2] * 8,
                text="",
                steps=3,
                stop_reason="stable_and_confident",
                loop=loop,
                ms=0.0,
                device_ms=1.0,
                texts=TEXTS,
            )
        )
    assert meter.metrics("diffusion", 1.0, False, 24).loops == 2
    assert meter.loop is None


def test_the_metrics_of_an_autoregressive_run_have_its_loop() -> None:
    meter = Meter()
    meter.see(started("autoregressive"))
    for index in range(9):
        meter.see(
            Token(
                index=index,
                id=2,
                temperature=1.0,
                entropy=0.0,
                logprob=0.0,
                ms=1.0,
                device_ms=index + 1.0,
                text=" the",
                texts={2: " the"},
            )
        )
    assert meter.loop == Loop(start=0, size=1, times=9)
    assert meter.metrics("autoregressive", 1.0, False, 24).loops == 1
