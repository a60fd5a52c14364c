"""Figures of a sweep: correctness against cost, steps by family, correctness against the cap, commitment over steps."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from playground.lab.results import Row
from playground.lab.summary import Line, agreeing, lines, pareto, slowest
from playground.tiny.evaluation import wilson_interval

BLUE, AMBER, GREY, FAINT = "#2563eb", "#b45309", "#8a857c", "#b5afa5"
LINES = (BLUE, AMBER, "#0d9488", "#8b5cf6", "#db2777", "#65a30d", "#0891b2", "#a16207", "#64748b")
CAP = "sampler.max_denoising_steps"
RIGHT = "right answers, % of runs"
MOST_TICKS = 12
STEPS = "effective steps (Equation 9)"
TPF = "tokens per forward pass (Equation 10)"


def setting_name(setting: dict[str, Any]) -> str:
    """A setting in words: 'entropy_bound 0.1, t_max 0.8'."""
    short = {name.rsplit(".", 1)[-1]: value for name, value in setting.items()}
    named = [f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in short.items()]
    return ", ".join(named) or "the recipe as it is"


def correctness_against(
    found: Sequence[Line], cost: str, usual: dict[str, Any] | None = None, what: str = RIGHT
) -> go.Figure:
    """Share of right answers, with 95 % intervals, against `tokens_per_forward` or `effective_denoising_steps`.

    A point a setting, filled on the Pareto front, which is a dashed line; the setting `usual` is named. More tokens per
    forward pass are better, fewer steps are. what: the title of the vertical axis."""
    figure = _figure(TPF if cost == "tokens_per_forward" else STEPS, what, shares=True)
    _points(figure, found, cost, BLUE, "a setting")
    figure.update_layout(showlegend=False)
    for line in found:
        if line.setting == usual and line.accuracy is not None:
            figure.add_annotation(
                x=getattr(line, cost),
                y=line.accuracy,
                text="released settings",
                ax=0,
                ay=-36,
                standoff=9,
                arrowhead=0,
                arrowcolor=FAINT,
            )
    return figure


def _points(figure: go.Figure, found: Sequence[Line], cost: str, colour: str, name: str) -> None:
    """A point a setting, with its interval, and the front."""
    told = [line for line in found if line.accuracy is not None and getattr(line, cost) is not None]
    front = sorted(pareto(told, cost, more=cost == "tokens_per_forward"), key=lambda line: float(getattr(line, cost)))
    filled = {id(line) for line in front}
    figure.add_scatter(
        x=[getattr(line, cost) for line in front],
        y=[line.accuracy for line in front],
        mode="lines",
        line={"color": colour, "width": 1.5, "dash": "dot"},
        name=f"Pareto front of {name}",
        showlegend=False,
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=[getattr(line, cost) for line in told],
        y=[line.accuracy for line in told],
        error_y=_errors([(line.accuracy or 0, line.low, line.high) for line in told]),
        mode="markers",
        marker={
            "color": colour,
            "size": 9,
            "symbol": ["circle" if id(line) in filled else "circle-open" for line in told],
            "line": {"width": 1.5, "color": colour},
        },
        text=[setting_name(line.setting) for line in told],
        hovertemplate="%{text}<br>%{y:.1%}, %{x:.2f}<extra></extra>",
        name=name,
        customdata=[json.dumps(line.setting) for line in told],
    )


def steps_by_family(rows: Sequence[Row]) -> go.Figure:
    """Effective denoising steps of every run, by family: the report's Figure 5 at small scale."""
    figure = _figure(STEPS, "")
    groups = _groups(rows, lambda row: row.family or "prompts")
    order = sorted(groups, key=lambda family: _mean([row.effective_denoising_steps for row in groups[family]]))
    for family in order:
        figure.add_box(
            x=[row.effective_denoising_steps for row in groups[family]], name=family, marker_color=BLUE, boxmean=True
        )
    figure.update_layout(showlegend=False, height=max(420, 160 + 26 * len(order)))
    return figure


def correctness_against_cap(rows: Sequence[Row], what: str = RIGHT) -> go.Figure:
    """Share of right answers against the step cap N, a line for each of the other parameters' settings: Figure 10."""
    figure = _figure("step cap N (log scale)", what, shares=True)
    for name, group in _groups(rows, lambda row: setting_name(_without(row, CAP))).items():
        points = sorted(lines(group), key=lambda line: float(line.setting[CAP]))
        told = [line for line in points if line.accuracy is not None]
        figure.add_scatter(
            x=[line.setting[CAP] for line in told],
            y=[line.accuracy for line in told],
            error_y=_errors([(line.accuracy or 0, line.low, line.high) for line in told]),
            mode="lines+markers",
            name=name,
        )
    caps = sorted({json.loads(row.setting)[CAP] for row in rows})
    if len(caps) <= MOST_TICKS:
        figure.update_xaxes(tickvals=caps, ticktext=[str(cap) for cap in caps])
    figure.update_xaxes(type="log")
    return figure


def commitment(rows: Sequence[Row]) -> go.Figure:
    """Share of the first canvas's committed positions whose draft is the committed token already, by step, a line a
    family: means over runs; a run that has stopped stays at 1."""
    figure = _figure("denoising step", "positions with their final token, %", shares=True)
    for family, group in _groups(rows, lambda row: row.family or "prompts").items():
        curves = [json.loads(row.settled) for row in group]
        curves = [curve for curve in curves if curve]
        longest = max(map(len, curves), default=0)
        means = [_mean([curve[at] if at < len(curve) else 1.0 for curve in curves]) for at in range(longest)]
        figure.add_scatter(x=list(range(1, longest + 1)), y=means, mode="lines", name=family)
    return figure


def compared(first: Sequence[Row], second: Sequence[Row], names: tuple[str, str]) -> go.Figure:
    """Two sweeps, another checkpoint or rule, by family: share of right answers, with 95 % intervals (Figure 9)."""
    figure = _figure("kind of task", RIGHT, shares=True)
    for rows, name, colour in zip((first, second), names, (BLUE, AMBER), strict=True):
        groups = _groups([row for row in rows if row.right is not None], lambda row: row.family or "prompts")
        shares = [(sum(row.right or 0 for row in group), len(group)) for group in groups.values()]
        figure.add_bar(
            x=list(groups),
            y=[right / total for right, total in shares],
            error_y=_errors([(right / total, *wilson_interval(right, total)) for right, total in shares]),
            name=name,
            marker_color=colour,
        )
    figure.update_layout(barmode="group")
    return figure


def overlaid(first: Sequence[Line], second: Sequence[Line], names: tuple[str, str]) -> go.Figure:
    """Two sweeps on one map: share of right answers against tokens per forward pass, each with its front."""
    figure = _figure(TPF, RIGHT, shares=True)
    for found, name, colour in zip((first, second), names, (BLUE, AMBER), strict=True):
        _points(figure, found, "tokens_per_forward", colour, name)
    return figure


def all_of(rows: Sequence[Row], usual: dict[str, Any] | None = None) -> dict[str, go.Figure]:
    """Every figure that the rows allow, by title. `usual`: the setting that is the released sampler, if one is."""
    found = lines(rows)
    typical = [row for row in rows if usual is not None and json.loads(row.setting) == usual]
    whose = " (released settings)" if typical else ""
    figures: dict[str, go.Figure] = {}
    if any(line.told for line in found):
        figures["Correctness against tokens per forward pass"] = correctness_against(found, "tokens_per_forward", usual)
        if any(line.effective_denoising_steps is not None for line in found):
            figures["Correctness against steps"] = correctness_against(found, "effective_denoising_steps", usual)
        if len({line.setting.get(CAP) for line in found}) > 1:
            figures["Correctness against the step cap"] = correctness_against_cap(rows)
    elif len(found) > 1 and (reference := usual if usual is not None else slowest(found)) is not None:
        same = agreeing(rows, reference)
        whom = "the released settings" if reference == usual else setting_name(reference)
        what = f"same answer as {whom}, % of runs"
        for title, cost in (("tokens per forward pass", "tokens_per_forward"), ("steps", "effective_denoising_steps")):
            figures[f"Agreement against {title}"] = correctness_against(lines(same), cost, usual, what)
        if len({line.setting.get(CAP) for line in found}) > 1:
            figures["Agreement against the step cap"] = correctness_against_cap(same, what)
    if any(row.effective_denoising_steps is not None for row in rows):
        figures[f"Steps by family{whose}"] = steps_by_family(typical or rows)
        figures[f"How positions settle{whose}"] = commitment(typical or rows)
    return figures


def write(figures: dict[str, go.Figure], title: str, file: Path) -> None:
    """One HTML file with all figures, which needs no network.

    Raises:
        OSError: when it cannot be written.
    """
    from html import escape

    parts = [f"<!doctype html><meta charset='utf-8'><title>{escape(title)}</title><h1>{escape(title)}</h1>"]
    for number, (name, figure) in enumerate(figures.items()):
        parts.append(f"<h2>{escape(name)}</h2>")
        parts.append(figure.to_html(full_html=False, include_plotlyjs=number == 0))
    style = "<style>body{font:15px/1.5 system-ui,sans-serif;max-width:960px;margin:32px auto;padding:0 16px}</style>"
    file.write_text(style + "\n".join(parts), encoding="utf-8")


def _figure(x: str, y: str, shares: bool = False) -> go.Figure:
    figure = go.Figure()
    figure.update_layout(
        template="plotly_white", height=420, margin={"l": 60, "r": 20, "t": 20, "b": 50}, colorway=LINES
    )
    figure.update_layout(legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom"})
    figure.update_xaxes(title=x)
    figure.update_yaxes(title=y, tickformat=".0%" if shares else None)
    return figure


def _errors(values: Sequence[tuple[float, float, float]]) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - share for share, _, high in values],
        "arrayminus": [share - low for share, low, _ in values],
        "thickness": 1,
        "width": 0,
        "color": FAINT,
    }


def _groups(rows: Sequence[Row], key: Callable[[Row], str]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def _without(row: Row, field: str) -> dict[str, Any]:
    setting: dict[str, Any] = json.loads(row.setting)
    setting.pop(field, None)
    return setting


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else 0.0
