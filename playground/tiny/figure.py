"""The figure of an evaluation: right answers by family with their intervals, and the steps that diffusion took."""

from pathlib import Path

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from playground.tiny.evaluation import Evaluation

COLOURS = {"diffusion": "#2563eb", "autoregressive": "#8a8378"}


def write_figure(evaluation: Evaluation, file: Path) -> None:
    """Write one HTML file that needs no network."""
    figure = make_subplots(
        cols=2,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        subplot_titles=("exact match, with 95 % intervals", "effective denoising steps"),
    )
    for mode, colour in COLOURS.items():
        results = [result for result in evaluation.results if result.mode == mode]
        families = [result.family for result in results]
        errors = {
            "type": "data",
            "symmetric": False,
            "array": [result.high - result.accuracy for result in results],
            "arrayminus": [result.accuracy - result.low for result in results],
            "thickness": 1,
        }
        points = go.Scatter(
            x=[result.accuracy for result in results],
            y=families,
            error_x=errors,
            mode="markers",
            name=mode,
            marker={"color": colour, "size": 9, "symbol": "circle" if mode == "diffusion" else "diamond-open"},
        )
        figure.add_trace(points, row=1, col=1)
        if mode == "diffusion":
            steps = go.Bar(
                x=[result.effective_denoising_steps for result in results],
                y=families,
                orientation="h",
                marker_color=colour,
                showlegend=False,
            )
            figure.add_trace(steps, row=1, col=2)
    figure.update_xaxes(range=[0, 1.02], row=1, col=1)
    figure.update_yaxes(autorange="reversed")
    figure.update_layout(template="plotly_white", height=140 + 22 * len({r.family for r in evaluation.results}))
    figure.write_html(file, include_plotlyjs=True)
