"""The controls: Gradio's own components, whose values go to the page's module and not to Python."""

import json
from typing import Any, NamedTuple

import gradio as gr

from playground.recipe import Recipe
from playground.settings import Settings
from playground.ui.pieces import piece

DEFAULTS = Recipe.model_validate({"messages": [{"role": "user", "content": "-"}]})
"""The report's values; the prompt is a stand-in."""

MODES = (("Diffusion", "diffusion"), ("AR", "autoregressive"), ("Side by side", "side_by_side"))


class Knob(NamedTuple):
    """A slider: the field of the recipe that it sets, and how far it goes."""

    path: str
    label: str
    minimum: float
    maximum: float
    step: float

    @property
    def name(self) -> str:
        """The field's own name, which is the component's id on the page too."""
        return self.path.rpartition(".")[2]

    @property
    def default(self) -> Any:
        """The report's value."""
        value: Any = DEFAULTS
        for part in self.path.split("."):
            value = getattr(value, part)
        return value


SAMPLER = (
    Knob("sampler.t_max", "Temperature, first step", 0.05, 2, 0.05),
    Knob("sampler.t_min", "Temperature, last step", 0, 2, 0.05),
    Knob("sampler.confidence_threshold", "Stop below mean entropy", 0, 0.1, 0.001),
    Knob("sampler.stability_threshold", "Stable for, steps", 0, 10, 1),
    Knob("sampler.max_denoising_steps", "At most, steps", 1, 192, 1),
)
DECODING = (
    Knob("decoding.temperature", "Temperature", 0, 2, 0.05),
    Knob("decoding.top_k", "Top-k (0: off)", 0, 256, 1),
    Knob("decoding.top_p", "Top-p", 0.01, 1, 0.01),
)


def tell(path: str) -> str:
    """JavaScript that tells the page's module a new value; nothing is sent to the server."""
    return f"(value) => {{ document.dispatchEvent(new CustomEvent('denoise:set', {{detail: [['{path}', value]]}})); }}"


def do(action: str) -> str:
    """JavaScript that asks the page's module to act."""
    return f"() => {{ document.dispatchEvent(new CustomEvent('denoise:do', {{detail: '{action}'}})); }}"


def show_values(shown: dict[str, Any]) -> None:
    """A button for the page's module, not for people: the components take the values it has put on the page.

    shown: the components by the name of their field.
    """
    names = json.dumps(list(shown))
    button = gr.Button("Show values", elem_id="show-values")
    values = "JSON.parse(document.getElementById('denoise').dataset.values)"
    script = f"() => {{ const all = {values}; return {names}.map((name) => all[name]); }}"
    button.click(None, None, list(shown.values()), js=script)


def prompt() -> Any:
    """The prompt."""
    box = gr.Textbox(
        label="Prompt",
        lines=2,
        max_lines=8,
        placeholder="Ask something, or take an example below",
        elem_id="prompt",
        interactive=True,
        html_attributes=gr.InputHTMLAttributes(spellcheck=False),
    )
    box.change(None, [box], None, js=tell("prompt"))
    box.submit(None, None, None, js=do("run"))
    return box


def mode() -> Any:
    """Diffusion, autoregressive, or one after the other."""
    radio = gr.Radio(MODES, value="diffusion", label="Mode", elem_id="mode", interactive=True)
    radio.change(None, [radio], None, js=tell("mode"))
    return radio


def buttons() -> None:
    """Run, and what can be done with a run. The page shows those that apply."""
    with gr.Row(elem_id="run-buttons"):
        for name, label, variant in (
            ("run", "Run", "primary"),
            ("pause", "Pause", "secondary"),
            ("resume", "Resume", "primary"),
            ("cancel", "Cancel", "secondary"),
        ):
            gr.Button(label, variant=variant, elem_id=name).click(None, None, None, js=do(name))


def sampler() -> dict[str, Any]:
    """The entropy-bounded sampler's parameters. They act on the next step, in mid-run too."""
    return _panel("sampler", "Sampler", SAMPLER, "The report's values. A change acts on the next step.", rule=True)


def decoding() -> dict[str, Any]:
    """The autoregressive mode's parameters."""
    return _panel("decoding", "Autoregressive", DECODING, "A change acts on the next token.")


def _panel(name: str, title: str, knobs: tuple[Knob, ...], note: str, rule: bool = False) -> dict[str, Any]:
    with gr.Column(elem_id=name, elem_classes="card panel"):
        gr.HTML(f"<h3>{title}</h3>", apply_default_css=False, elem_classes="panel-head")
        if rule:
            piece("rule")
        sliders = [_slider(knob) for knob in knobs]
        with gr.Row(elem_classes="panel-foot"):
            gr.HTML(f"<p class='hint'>{note}</p>", apply_default_css=False)
            reset = gr.Button("Reset", size="sm", elem_id=f"reset-{name}", elem_classes="example")
        values = json.dumps([knob.default for knob in knobs])
        also = f"({do('reset_rule')})();" if rule else ""
        reset.click(None, None, sliders, js=f"() => {{ {also} return {values}; }}")
    return {knob.name: slider for knob, slider in zip(knobs, sliders, strict=True)}


def _slider(knob: Knob) -> Any:
    slider = gr.Slider(
        knob.minimum,
        knob.maximum,
        knob.default,
        step=knob.step,
        label=knob.label,
        elem_id=knob.name,
        elem_classes="knob",
        interactive=True,
        buttons=[],
    )
    slider.change(None, [slider], None, js=tell(knob.path))
    return slider


def run_limits(settings: Settings) -> dict[str, Any]:
    """Seed and length: for the next run."""
    with gr.Column(elem_id="limits", elem_classes="card panel"):
        gr.HTML("<h3>Next run</h3>", apply_default_css=False, elem_classes="panel-head")
        tokens = gr.Slider(
            1,
            new_tokens(settings)["shown"],
            defaults(settings)["max_new_tokens"],
            step=1,
            label="New tokens, at most",
            elem_id="max_new_tokens",
            elem_classes="knob",
            interactive=True,
            buttons=[],
        )
        tokens.change(None, [tokens], None, js=tell("max_new_tokens"))
        with gr.Row(elem_id="seed-row"):
            seed = gr.Number(
                DEFAULTS.seed, label="Seed", precision=0, minimum=0, elem_id="seed", min_width=80, interactive=True
            )
            dice = gr.Button("New seed", size="sm", elem_id="new-seed", elem_classes="example")
        seed.change(None, [seed], None, js=tell("seed"))
        dice.click(None, None, seed, js="() => Math.floor(Math.random() * 100000)")
    return {"max_new_tokens": tokens, "seed": seed}


def new_tokens(settings: Settings) -> dict[str, int]:
    """New tokens at most: where the slider ends until the page's module knows the model, and what the server allows."""
    return {"shown": min(settings.max_new_tokens, 1024), "allowed": settings.max_new_tokens}


def defaults(settings: Settings) -> dict[str, Any]:
    """What the page's module starts from: the same values as the components show."""
    recipe = DEFAULTS.model_dump(mode="json")
    return {
        "prompt": "",
        "mode": "diffusion",
        "seed": recipe["seed"],
        "max_new_tokens": min(recipe["max_new_tokens"], settings.max_new_tokens),
        "sampler": recipe["sampler"],
        "decoding": recipe["decoding"],
    }
