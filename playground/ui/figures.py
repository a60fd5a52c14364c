"""Figures of a run, from the summary that the page sends: numbers only."""

from typing import Annotated, Any, Literal

import plotly.graph_objects as go
from plotly.subplots import make_subplots
from pydantic import BaseModel, ConfigDict, Field, ValidationError

MOST = 20_000
"""The most points of a series that are drawn."""

Column = Annotated[list[float], Field(max_length=MOST)]
Count = Annotated[list[int], Field(max_length=MOST)]

BLUE, AMBER, GREY = "#2563eb", "#b45309", "#68645d"
"""Accent, amber and muted of the light theme. In the dark one `static/styles/gradio.css` puts its own in their place,
which it finds by these values."""


class _Numbers(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Denoised(_Numbers):
    """A diffusion run: one entry a step."""

    mode: Literal["diffusion"]
    canvas_length: int
    canvas: Count
    step: Count
    entropy: Column
    accepted: Count
    temperature: Column
    confidence_threshold: Column
    device_ms: Column


class Written(_Numbers):
    """An autoregressive run: one entry a token."""

    mode: Literal["autoregressive"]
    entropy: Column
    device_ms: Column


class Summary(_Numbers):
    """The runs of one press of Run."""

    runs: Annotated[list[Annotated[Denoised | Written, Field(discriminator="mode")]], Field(min_length=1, max_length=2)]


def of_summary(value: object) -> go.Figure | None:
    """The figure of a summary as the page sends it; none where it is not one."""
    try:
        summary = Summary.model_validate(value)
    except ValidationError:
        return None
    runs = {run.mode: run for run in summary.runs}
    diffusion = runs.get("diffusion")
    if isinstance(diffusion, Denoised) and diffusion.step:
        return of_denoising(diffusion)
    written = runs.get("autoregressive")
    return of_writing(written) if isinstance(written, Written) and written.entropy else None


def of_denoising(run: Denoised) -> go.Figure:
    """Mean entropy (logarithmic, with the threshold to stop below) and accepted positions over all steps."""
    passes = list(range(1, len(run.step) + 1))
    where = [f"canvas {canvas + 1}, step {step}" for canvas, step in zip(run.canvas, run.step, strict=False)]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.08, row_heights=[0.6, 0.4])
    figure.add_trace(
        go.Scatter(
            x=passes,
            y=[max(entropy, 1e-6) for entropy in run.entropy],
            text=where,
            name="mean entropy",
            mode="lines+markers",
            line={"color": BLUE, "width": 2},
            marker={"size": 5},
            hovertemplate="%{text}<br>mean entropy %{y:.4f} nats<extra></extra>",
        ),
        row=1,
        col=1,
    )
    if any(threshold > 0 for threshold in run.confidence_threshold):
        figure.add_trace(
            go.Scatter(
                x=passes,
                y=[threshold or None for threshold in run.confidence_threshold],
                name="stop below",
                mode="lines",
                line={"color": AMBER, "width": 1.5, "dash": "dash"},
                hovertemplate="stop below %{y:.4f} nats<extra></extra>",
            ),
            row=1,
            col=1,
        )
    figure.add_trace(
        go.Bar(
            x=passes,
            y=run.accepted,
            text=where,
            name="accepted",
            marker={"color": BLUE, "opacity": 0.55},
            textposition="none",
            hovertemplate=f"%{{text}}<br>accepted %{{y}} of {run.canvas_length}<extra></extra>",
        ),
        row=2,
        col=1,
    )
    for at in range(1, len(run.canvas)):
        if run.canvas[at] != run.canvas[at - 1]:
            figure.add_vline(x=at + 0.5, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.update_yaxes(type="log", dtick=1, exponentformat="none", title="mean entropy, nats", row=1, col=1)
    figure.update_yaxes(title="accepted", range=[0, run.canvas_length or None], row=2, col=1)
    figure.update_xaxes(title="denoising steps", row=2, col=1)
    return _styled(figure, 420)


def of_writing(run: Written) -> go.Figure:
    """Entropy of each token of an autoregressive run."""
    figure = go.Figure(
        go.Bar(
            x=list(range(1, len(run.entropy) + 1)),
            y=run.entropy,
            name="entropy",
            marker={"color": BLUE},
            hovertemplate="token %{x}<br>entropy %{y:.4f} nats<extra></extra>",
        )
    )
    figure.update_yaxes(title="entropy, nats")
    figure.update_xaxes(title="tokens")
    return _styled(figure, 320)


def _styled(figure: go.Figure, height: int) -> Any:
    """Transparent, so that it sits on a light page and on a dark one."""
    figure.update_layout(
        height=height,
        margin={"l": 56, "r": 12, "t": 28, "b": 44},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 12, "color": GREY},
        legend={"orientation": "h", "y": 1.08, "x": 0},
        bargap=0.25,
    )
    figure.update_xaxes(showgrid=False, zeroline=False)
    figure.update_yaxes(gridcolor="rgba(138,133,124,0.25)", zeroline=False)
    return figure
