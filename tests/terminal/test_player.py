import io
import time

from rich.console import Console

from playground.terminal import player
from tests.terminal import runs


def terminal() -> Console:
    return Console(file=io.StringIO(), width=80, height=24, force_terminal=True, color_system="truecolor", _environ={})


def test_without_a_console_nothing_is_drawn_and_nothing_waits() -> None:
    began = time.monotonic()
    lane = player.play(runs.whole(), None, steps_per_second=0.01)
    assert lane.finished is not None
    assert time.monotonic() - began < 5


def test_frames_are_drawn_in_place_and_wiped_at_the_end() -> None:
    console = terminal()
    player.play(runs.whole(), console)
    written = console.file.getvalue()
    assert "step  1 of 48" in written
    assert "step  2 of 48" in written
    assert "\x1b[1A" in written  # back up, to draw over the last frame
    assert written.count("\x1b[?25l") == written.count("\x1b[?25h") == 1  # the cursor comes back


def test_the_pace_holds_the_source_back() -> None:
    began = time.monotonic()
    player.play(runs.whole(), terminal(), steps_per_second=20)
    assert time.monotonic() - began >= 0.14  # the noise and two steps


def test_an_interrupt_drops_the_pace() -> None:
    began = time.monotonic()
    player.play(runs.whole(), terminal(), steps_per_second=0.01, interrupted=lambda: True)
    assert time.monotonic() - began < 5


def test_a_file_is_no_terminal_whatever_the_environment_says() -> None:
    assert not player.animates(Console(file=io.StringIO(), _environ={"FORCE_COLOR": "1"}))
