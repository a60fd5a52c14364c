"""What is printed when a run has ended: the answer, its figures, and why it stopped, in words."""

from rich.console import Console
from rich.text import Text

from playground.events import CanvasCommitted, Metrics
from playground.terminal.glyphs import visible
from playground.terminal.lane import Lane
from playground.terminal.view import STOP_WORDS


def show(lane: Lane, console: Console) -> None:
    """Print answer, metrics and stop reason of a finished run, wrapped between words on a terminal only."""
    finished = lane.finished
    if finished is None:
        raise ValueError("the run has not finished")
    if finished.thought:
        _print(console, Text("thought: " + visible(finished.thought), style="dim"))
    if finished.text or not lane.draft:
        _print(console, Text(visible(finished.text)))
    if lane.draft:
        _print(console, Text("draft, not committed: ", style="dim").append(visible(lane.draft)))
    _print(console, Text())
    for line in [*figures(finished.metrics, lane.mode), *canvases(lane), stopped(lane)]:
        _print(console, Text(line, style="dim"))


def figures(metrics: Metrics, mode: str) -> list[str]:
    """The metrics in one or two lines; what was not measured is left out."""
    parts = [_count(metrics.total_tokens, "token")]
    first = "first token"
    if mode == "diffusion":
        first = "first canvas"
        parts.append(_count(metrics.total_denoising_steps or 0, "denoising step"))
        if metrics.effective_denoising_steps is not None:
            parts.append(f"{metrics.effective_denoising_steps:.1f} effective steps")
    if metrics.tokens_per_forward is not None:
        parts.append(f"{metrics.tokens_per_forward:.2f} tokens per forward pass")
    times = [f"{metrics.seconds:.2f} s on the device"]
    if metrics.time_to_first_token is not None:
        times.append(f"{first} after {metrics.time_to_first_token:.2f} s")
    if metrics.tokens_per_second is not None:
        times.append(f"{metrics.tokens_per_second:.0f} tokens/s")
    if metrics.shared_device:
        times.append("device shared with other runs")
    return [" · ".join(parts), " · ".join(times)]


def canvases(lane: Lane) -> list[str]:
    """One line for each committed canvas: how it ended, and how much of it the answer used."""
    return [_canvas(commit, lane.started.canvas_length) for commit in lane.commits] if lane.started else []


def _canvas(commit: CanvasCommitted, length: int) -> str:
    return (
        f"canvas {commit.canvas + 1}: {STOP_WORDS[commit.stop_reason]} after {_count(commit.steps, 'step')},"
        f" {len(commit.ids)} of {length} positions used"
        + (f"; a loop, {commit.loop.times} times the same" if commit.loop else "")
    )


def stopped(lane: Lane) -> str:
    """Why the run ended, as a sentence."""
    finished = lane.finished
    if finished is None:
        return "The run has not finished."
    match finished.stop_reason:
        case "end_of_turn":
            return "Stopped: the model ended its turn."
        case "max_new_tokens":
            sentence = f"Stopped at the limit of {_count(finished.recipe.max_new_tokens, 'new token')}"
            trimmed = finished.metrics.trimmed_tokens
            sentence += f"; {_count(trimmed, 'token')} beyond it left out." if trimmed else "."
            return sentence + (f" It ends in a loop, {finished.loop.times} times the same." if finished.loop else "")
        case "cancelled":
            return "Cancelled."
        case "error":
            return f"Stopped by an error: {visible(lane.error.message) if lane.error else 'unknown'}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _print(console: Console, text: Text) -> None:
    console.print(text, soft_wrap=not console.is_terminal)
