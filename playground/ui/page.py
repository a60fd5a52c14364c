"""The page: Gradio carries prompt, controls and figure; the canvas and all that moves are the page's own module."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr

from playground import __version__
from playground.settings import Settings
from playground.ui import controls, examples, figures
from playground.ui.pieces import HEAD, piece

STEPS_PER_SECOND = 4
"""How fast a run is computed and shown at first: an eye can follow that, and a slider can be moved in time."""

STATIC_FOLDERS = (Path(__file__).parents[1] / "static", Path(__file__).parents[2] / "static")
"""Where the page's files are: in the package when installed, beside it in the sources."""


def build(settings: Settings, lend: Callable[..., Any] | None = None) -> tuple[Any, str]:
    """The page as `gr.Blocks`, to be mounted at the root after all other routes, and the markup for its head.

    lend: where the GPU is lent for each run, a generator for Gradio that makes one: from the text of a `start`.
    """
    with gr.Blocks(title="Denoise", fill_width=True, analytics_enabled=False) as page, gr.Column(elem_id="denoise"):
        piece("head")
        with gr.Column(elem_id="ask", elem_classes="card"):
            prompt = controls.prompt()
            shown = {"prompt": prompt, "mode": controls.mode()}
            piece("start")
            controls.buttons()
            piece(
                "examples",
                groups=examples.as_props(examples.groups(settings.model)),
                others={name: examples.as_props(examples.groups(name)) for name in settings.choices},
            )
        stage = piece(
            "stage",
            defaults=controls.defaults(settings),
            tokens=controls.new_tokens(settings),
            steps_per_second=STEPS_PER_SECOND,
            recordings=recordings(),
            version=__version__,
            lends=lend is not None,
        )
        piece("inspector")
        with gr.Column(elem_id="controls"):
            shown |= controls.sampler() | controls.decoding() | controls.run_limits(settings)
            controls.show_values(shown)
        with gr.Accordion("Figure of the run", open=False, elem_id="figure", elem_classes="card"):
            plot = gr.Plot(show_label=False, elem_id="plot")
        piece(
            "lab",
            usual=controls.defaults(settings)["sampler"],
            tokens=controls.defaults(settings)["max_new_tokens"],
        )
        if lend is not None:
            loan = piece("loan")
            loan.borrow(
                lend,
                [loan],
                [loan],
                show_progress="hidden",
                api_visibility="private",
                concurrency_limit=settings.max_runs,
                trigger_mode="multiple",
            )
        stage.finished(figures.of_summary, [stage], [plot], show_progress="hidden", api_visibility="private")
    if lend is not None:
        # On ZeroGPU Gradio lets but one event wait, so that a figure would have a run refused.
        page.queue(max_size=settings.max_waiting)
    return page, HEAD


def recordings() -> dict[str, str]:
    """The recorded runs that come with the page, by mode, as paths below its address."""
    for folder in STATIC_FOLDERS:
        if folder.is_dir():
            names = {"diffusion": "recordings/diffusion.jsonl", "autoregressive": "recordings/autoregressive.jsonl"}
            return {mode: f"page/{name}" for mode, name in names.items() if (folder / name).is_file()}
    return {}
