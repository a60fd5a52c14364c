"""A lane drawn for a terminal of a given size, with rich. Text from a model is never read as markup."""

import math
from collections import Counter

from rich.cells import cell_len
from rich.console import Console, Group
from rich.text import Text

from playground.terminal.glyphs import piece, visible
from playground.terminal.lane import Cell, Lane, Mark

ACCENT = "#3b82f6"
AMBER = "#d97706"
STYLES: dict[Mark, str] = {
    "draft": "dim",
    "new": f"bold {ACCENT}",
    "kept": "",
    "revised": f"underline {AMBER}",
    "released": "dim strike",
    "committed": "",
}
"""Colour, weight and line each tell the states apart, so that nothing is lost without colour."""

STOP_WORDS = {"stable_and_confident": "stable and confident", "max_denoising_steps": "at the step cap"}
BARS = "▁▂▃▄▅▆▇█"


def draw(lane: Lane, console: Console, recorded: bool = False) -> Group:
    """The whole lane, never larger than the terminal: header, text (its end, if all is too long), timeline, legend."""
    width, height = console.size
    header = Text(_header(lane, width, recorded), style="bold", no_wrap=True, overflow="ellipsis")
    foot = _foot(lane, width) if height >= 10 else []
    room = max(1, height - 1 - len(foot) - 1)  # the last line stays free, or the terminal scrolls
    lines = list(_body(lane, width).wrap(console, width, overflow="fold"))
    if len(lines) > room:
        above = len(lines) - room + 1
        note = Text(f"… {above} lines above", style="dim", no_wrap=True, overflow="ellipsis")
        lines = [note, *lines[above:]] if room > 1 else lines[-1:]
    return Group(header, *lines, *foot)


def _header(lane: Lane, width: int, recorded: bool) -> str:
    """The facts of the present step, in fixed places, in the longest form that fits."""
    start = "recorded · " if recorded else ""
    if lane.reading is not None:
        tokens = f"{lane.reading.tokens:,} of {lane.reading.total:,} tokens"
        forms = [f"{start}reading the prompt · {tokens}", tokens]
    elif lane.mode == "autoregressive":
        token = lane.token
        facts = f" · entropy {token.entropy:.3f}" if token else ""
        index = token.index + 1 if token else 0
        forms = [f"{start}autoregressive · token {index:>4}{facts}", f"token {index:>4}{facts}"]
    elif lane.step is None:
        forms = [f"{start}canvas {lane.canvas + 1} · random tokens", f"canvas {lane.canvas + 1}"]
    else:
        step = lane.step
        most = step.max_denoising_steps
        at = f"{step.step:>{len(str(most))}}"
        size = len(step.accepted)
        accepted = f"{sum(step.accepted):>{len(str(size))}}/{size}"
        entropy = f"{step.mean_entropy:.3f}"
        forms = [
            f"{start}canvas {lane.canvas + 1} · step {at} of {most} · τ {step.temperature:.3f}"
            f" · accepted {accepted} · mean entropy {entropy}",
            f"canvas {lane.canvas + 1} · {at}/{most} · τ {step.temperature:.2f} · {accepted} · H {entropy}",
            f"{lane.canvas + 1} · {at}/{most} · {accepted} · {entropy}",
        ]
    return next((form for form in forms if cell_len(form) <= width), forms[-1])


def _body(lane: Lane, width: int) -> Text:
    body = Text()
    if lane.mode == "autoregressive":
        if lane.token is not None:
            _append_with_newest(body, lane.token.text, lane.token.texts.get(lane.token.id, ""))
        body.append("▌", style=ACCENT)
        return body
    for commit in lane.commits:
        if commit.canvas != lane.canvas:
            if commit.thought:
                body.append(visible(commit.thought), style=STYLES["draft"]).append("\n" if commit.text else "")
            body.append(visible(commit.text))
            steps = "1 step" if commit.steps == 1 else f"{commit.steps} steps"
            edge = f" canvas {commit.canvas + 1} committed · {steps} · {STOP_WORDS[commit.stop_reason]}"
            body.append("\n" + "╌" * max(2, width - cell_len(edge)) + edge + "\n", style="dim")
    cells, tail = _fold(lane)
    for cell in cells:
        text = piece(cell.text)
        word = text.lstrip(" ") or text
        body.append(text[: len(text) - len(word)]).append(word, style=STYLES[cell.mark])
    if tail:
        mark = Counter(cell.mark for cell in tail).most_common(1)[0][0]
        body.append(" " if cells else "")
        body.append(f"[end of turn × {len(tail)}]", style=STYLES[mark])
    return body


def _append_with_newest(body: Text, text: str, newest: str) -> None:
    split = len(text) - len(newest) if newest and text.endswith(newest) else len(text)
    body.append(visible(text[:split]))
    body.append(visible(text[split:]), style=STYLES["new"])


def _fold(lane: Lane) -> tuple[list[Cell], list[Cell]]:
    """The canvas before its tail, and the tail: the end tokens (and padding) that fill it up to its end."""
    cut = len(lane.cells)
    while cut and (lane.ends(lane.cells[cut - 1].id) or lane.cells[cut - 1].text == "<pad>"):
        cut -= 1
    return lane.cells[:cut], lane.cells[cut:]


def _foot(lane: Lane, width: int) -> list[Text]:
    if lane.mode == "autoregressive":
        return []
    legend = Text(no_wrap=True, overflow="ellipsis")
    words: dict[Mark, str] = {
        "draft": "draft",
        "new": "accepted now",
        "kept": "kept",
        "revised": "revised",
        "released": "released",
    }
    for mark, word in words.items():
        legend.append(word, style=STYLES[mark]).append("  ")
    return [Text(), _timeline(lane.entropies, width), legend]


def _timeline(entropies: list[list[float]], width: int) -> Text:
    """Mean entropy of each step as a bar against the highest, a mark at each canvas edge; the latest that fit."""
    highest = max((value for canvas in entropies for value in canvas if math.isfinite(value)), default=0.0) or 1.0
    bars = "┊".join("".join(_bar(value / highest) for value in canvas) for canvas in entropies)
    return Text(bars[-max(1, width - 1) :], style=ACCENT, no_wrap=True)


def _bar(share: float) -> str:
    return BARS[min(len(BARS) - 1, int(share * len(BARS)))] if math.isfinite(share) else "?"
