import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from playground import events
from playground.terminal.lane import Lane
from playground.terminal.view import draw
from tests.terminal import runs


def terminal(width: int = 80, height: int = 24, **options: object) -> Console:
    settings = {"force_terminal": True, "color_system": "truecolor", "_environ": {}} | options
    return Console(file=io.StringIO(), width=width, height=height, **settings)


def drawn(source: list[events.Event], console: Console, recorded: bool = False) -> str:
    lane = Lane()
    for event in source:
        lane.apply(event)
    console.print(draw(lane, console, recorded))
    return console.file.getvalue()


def plain(source: list[events.Event], width: int = 80, height: int = 24, recorded: bool = False) -> list[str]:
    return drawn(source, terminal(width, height, color_system=None, force_terminal=False), recorded).splitlines()


def test_the_header_states_the_facts_of_the_step() -> None:
    assert plain(runs.whole()[:4])[0] == "canvas 1 · step  2 of 48 · τ 0.800 · accepted 3/4 · mean entropy 0.100"
    assert plain(runs.whole()[:2])[0] == "canvas 1 · random tokens"
    assert plain(runs.whole()[:2], recorded=True)[0].startswith("recorded · ")


@pytest.mark.parametrize("width", [6, 20, 40, 60, 80, 200])
@pytest.mark.parametrize("height", [1, 2, 5, 10, 24])
def test_it_never_outgrows_the_terminal(width: int, height: int) -> None:
    many = [
        runs.started(),
        runs.canvas_started(),
        *(runs.step(number, [1, 5, 2, 0], [1, 5, 2, 0], "1000") for number in range(1, 300)),
        runs.committed([1, 5, 2, 1], "word " * 200),
        runs.canvas_started(1),
        runs.step(1, [1, 5, 2, 0], [1, 5, 2, 0], "1000", canvas=1),
    ]
    lines = plain(many, width, height)
    assert len(lines) <= max(2, height)
    assert all(cell_len(line) <= width for line in lines)


def test_each_state_has_a_style_of_its_own_with_and_without_colour() -> None:
    coloured = drawn(runs.whole()[:4], terminal())
    assert "\x1b[4;38;2;217;119;6mred" in coloured  # revised: amber, underlined
    assert "\x1b[2;9mfox" in coloured  # released: struck through
    bare = drawn(runs.whole()[:4], terminal(_environ={"NO_COLOR": "1"}))
    assert "38;2" not in bare
    assert "\x1b[4mred" in bare
    assert "\x1b[2;9mfox" in bare
    assert "\x1b[1maccepted now" in bare


def test_the_tail_of_end_tokens_is_folded() -> None:
    source = [runs.started(), runs.canvas_started(), runs.step(1, [1, 0, 0, 0], [1, 0, 0, 0], "1111")]
    text = "\n".join(plain(source))
    assert "red [end of turn × 3]" in text
    assert "<end>" not in text


def test_model_text_is_neither_markup_nor_control_code() -> None:
    text = drawn(runs.whole()[:2], terminal(color_system=None))
    assert "[bold]" in text
    assert "␛[2J" in text
    assert "\x1b[2J" not in text


def test_a_canvas_edge_says_how_the_canvas_ended() -> None:
    lines = plain([*runs.whole()[:5], runs.canvas_started(1)])
    assert any(line.endswith("╌ canvas 1 committed · 2 steps · stable and confident") for line in lines)


def test_a_timeline_copes_with_any_entropy() -> None:
    source = [
        runs.started(),
        runs.canvas_started(),
        *(runs.step(1, [1, 2, 1, 0], [1, 2, 1, 0], "1000", mean=mean) for mean in (float("nan"), float("inf"), 1, 0)),
    ]
    assert "??█▁" in plain(source)


def test_an_autoregressive_run_shows_its_newest_token() -> None:
    token = events.Token(
        index=1,
        id=2,
        temperature=1.0,
        entropy=0.412,
        logprob=-0.1,
        ms=1.0,
        device_ms=2.0,
        text=" red fox",
        texts=runs.TEXTS,
    )
    text = drawn([runs.started("autoregressive"), token], terminal())
    assert "token    2 · entropy 0.412" in text
    assert "\x1b[1;38;2;59;130;246m fox" in text


def test_a_long_prompt_shows_how_far_it_is_read() -> None:
    prefill = events.Prefill(tokens=1024, total=5000, ms=1.0, device_ms=1.0)
    assert plain([runs.started(), prefill])[0] == "reading the prompt · 1,024 of 5,000 tokens"
    assert plain([runs.started(), prefill, runs.canvas_started()])[0] == "canvas 1 · random tokens"


def test_a_committed_thought_stands_before_the_answer() -> None:
    commit = runs.committed([1, 5, 2, 9], "yes").model_copy(update={"thought": "hm"})
    lines = plain([runs.started(), runs.canvas_started(), commit, runs.canvas_started(1)])
    assert lines[1:3] == ["hm", "yes"]
