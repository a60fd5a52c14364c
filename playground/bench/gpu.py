"""What a step of the released shape costs on this device, part by part, against `generate()` and one token of AR."""

import re
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.models.diffusion_gemma.generation_diffusion_gemma import EntropyBoundSamplerConfig

from playground.bench import shape as shapes
from playground.bench.pairs import Pairs, measure
from playground.bench.parts import Stopwatch, counted, timed
from playground.bench.sampling import describe
from playground.bench.shape import Shape
from playground.engine import runs
from playground.engine.compiled import How
from playground.engine.models import Model
from playground.engine.steering import Steering
from playground.errors import PlaygroundError
from playground.events import Step, Token
from playground.parameters import Decoding, EntropyBoundSampler
from playground.recipe import Message, Mode, Recipe
from playground.sampling import draws, schedule, stopping
from playground.sampling.rules.entropy_bound import EntropyBound
from playground.sampling.rules.rule import Draws
from playground.sampling.statistics import summarise
from playground.settings import Settings

DEVICE = re.compile(r"cpu|cuda(:\d+)?")
WARM_UP = 2
"""Steps and tokens left out at first."""
PARTS_STEPS = 8
READS = 9
ROOM_BYTES = 6 << 30
"""What a run needs on a GPU besides the weights."""
NAMES = ("MoE", "attention", "other", "sampling", "copy")


@dataclass(frozen=True)
class Result:
    """Milliseconds, unless the name says something else."""

    shape: Shape
    machine: str
    dtype: str
    parameters: int
    ways: str
    prompt_tokens: int
    steps: int
    step: list[float]
    """Each step of the engine, by its own clock: from its pass to the figures on the host."""
    parts: dict[str, list[float]]
    experts: list[int]
    """Distinct experts, by pass and layer."""
    whole: Pairs
    """A step of a whole canvas, prefill and events included, beside `generate()`."""
    token: list[float]
    statistics: list[float]
    read: list[float]
    compiled: list[float]
    """The same steps with a compiled pass, where that was asked for."""
    compiling: float
    """Seconds that compiling took."""
    most_bytes: int | None
    """The most GPU memory in use at a time; none on a CPU."""

    @property
    def ratio(self) -> float:
        """r: a step over a token."""
        return statistics.median(self.step) / statistics.median(self.token)


def check(shape: Shape, device: str) -> None:
    """Raise `PlaygroundError`, naming `device`, where the shape cannot be made there."""
    if not DEVICE.fullmatch(device):
        raise PlaygroundError("bad_request", f"takes cpu, cuda or cuda:N, not {device!r}.", "device")
    if device == "cpu":
        return
    if not torch.cuda.is_available():
        message = "torch sees no CUDA device here; --device cpu runs the same measurements on a small shape"
        raise PlaygroundError("model", f"{message}.", "device")
    if (torch.device(device).index or 0) >= (count := torch.cuda.device_count()):
        raise PlaygroundError(
            "model", f"there is no {device} here, only {count} CUDA devices from cuda:0 on.", "device"
        )
    free, _ = torch.cuda.mem_get_info(torch.device(device))
    needed = shapes.bytes_needed(shape, torch.bfloat16) + (ROOM_BYTES if shape is shapes.RELEASED else 0)
    if needed > free:
        message = f"the {shape.name} needs about {needed / 2**30:.0f} GiB there, and {free / 2**30:.0f} are free"
        raise PlaygroundError("model", f"{message}; --small measures a small shape.", "device")


def way(compile: str, device: str) -> How | None:
    """How to compile the step, none for not at all. Raises `PlaygroundError`, naming `compile`."""
    if compile == "none":
        return None
    if compile == "step" or (compile == "graphs" and device != "cpu"):
        return "step" if compile == "step" else "graphs"
    raise PlaygroundError("bad_request", f"takes none, step, or on a GPU graphs, not {compile!r}.", "compile")


def run(
    shape: Shape,
    device: str,
    steps: int,
    tokens: int,
    prompt_tokens: int,
    repeats: int,
    seconds: float,
    how: How | None = None,
) -> Result:
    """Make the model and measure it. seconds: after which no further pair of whole canvases is begun; how: to compile
    the step in the end, and measure it again. Raises `ModelError` where it cannot be compiled."""
    began = time.perf_counter()
    place = torch.device(device)
    dtype = torch.bfloat16 if place.type == "cuda" else torch.float32
    model, network = shapes.new_model(shape, place, dtype)
    settings = Settings(max_prompt_tokens=shape.positions, max_new_tokens=shape.positions)
    text = shapes.prompt(shape, prompt_tokens)

    def recipe(mode: Mode, new: int) -> Recipe:
        sampler = EntropyBoundSampler(max_denoising_steps=steps, confidence_threshold=0.0)  # so it goes to the cap
        messages = [Message(role="user", content=text)]
        made = Recipe(mode=mode, messages=messages, max_new_tokens=new, sampler=sampler, decoding=Decoding())
        return runs.prepare(model, made, settings)

    diffusion = recipe("diffusion", shape.canvas_length)
    ours = _ours(model, diffusion)
    step = ours()
    autoregressive = _events(model, recipe("autoregressive", tokens + WARM_UP))
    token = [event.ms for event in autoregressive if isinstance(event, Token)]
    parts = _parts(model, network, text, place)
    experts = _experts(model, network, text)
    summed, read = _sampling(shape, place)
    pairs = measure(ours, _reference(network, model, text, steps), repeats, began + seconds)
    compiled: list[float] = []
    asked = time.perf_counter()
    if how is not None:
        model.compile(how)
        model.finish()
    compiling = time.perf_counter() - asked
    if how is not None:
        ours()  # a recording is made when a length comes for the first time
        compiled = ours()
    return Result(
        shape=shape,
        machine=describe(device),
        dtype=str(dtype).removeprefix("torch."),
        parameters=model.parameters,
        ways=_ways(network),
        prompt_tokens=len(model.encode(diffusion.messages, False)),
        steps=steps,
        step=step[WARM_UP:] or step,
        parts=parts,
        experts=experts,
        whole=Pairs([ms / steps for ms in pairs.ours], [ms / steps for ms in pairs.reference]),
        token=token[WARM_UP:] or token,
        statistics=summed,
        read=read,
        compiled=compiled[WARM_UP:] or compiled,
        compiling=compiling,
        most_bytes=torch.cuda.max_memory_allocated(place) if place.type == "cuda" else None,
    )


def _events(model: Model, recipe: Recipe) -> Iterator[Any]:
    for event in runs.events(model, recipe, Steering(recipe)):
        if event.type == "error":
            raise PlaygroundError(event.code, event.message)
        yield event


def _ours(model: Model, recipe: Recipe) -> Callable[[], list[float]]:
    """One canvas by the engine; gives the milliseconds of its steps."""

    def once() -> list[float]:
        return [event.ms for event in _events(model, recipe) if isinstance(event, Step)]

    return once


def _reference(network: Any, model: Model, text: str, steps: int) -> Callable[[], object]:
    ids = torch.tensor([model.encode([Message(role="user", content=text)], False)], device=network.device)
    usual = EntropyBoundSampler()

    def once() -> None:
        network.generate(
            ids,
            max_new_tokens=model.canvas_length,
            max_denoising_steps=steps,
            sampler_config=EntropyBoundSamplerConfig(usual.entropy_bound),
            t_min=usual.t_min,
            t_max=usual.t_max,
            confidence_threshold=1e-30,
            stability_threshold=steps,
            eos_token_id=model.end_ids,
            pad_token_id=0,
            cache=DynamicCache(config=network.config.get_text_config()),
        )
        model.finish()

    return once


def _prefilled(model: Model, text: str) -> tuple[Any, Tensor]:
    """A cache with the prompt, and a canvas of noise."""
    cache = model.cache()
    model.encode_pass(cache, model.encode([Message(role="user", content=text)], False))
    return cache, draws.tokens(0, 0, 0, "noise", model.canvas_length, model.vocab_size)


def _parts(model: Model, network: Any, text: str, device: torch.device) -> dict[str, list[float]]:
    """The parts of single steps, taken one by one as the engine takes them."""
    cache, canvas_ids = _prefilled(model, text)
    watch = Stopwatch(device)
    parts: dict[str, list[float]] = {name: [] for name in ("step", *NAMES)}
    conditioning: Tensor | None = None
    length, vocabulary = model.canvas_length, model.vocab_size
    with timed(network.model.decoder.layers, watch):
        for number in range(1, PARTS_STEPS + WARM_UP + 1):
            uniforms = draws.uniforms(0, 0, number, "sample", length).to(device)
            watch.start("step")
            logits = model.decode_pass(cache, canvas_ids, conditioning)
            with watch.span("sampling"):
                logits = schedule.tempered(logits, 0.8)
                there = summarise(logits, uniforms)
            with watch.span("copy"):
                here = there.on_host()
            with watch.span("sampling"):
                chance = Draws(draws.tokens(0, 0, number, "renoise", length, vocabulary), torch.zeros(length))
                canvas_ids = EntropyBound(0.1).step(canvas_ids, here, chance).canvas_ids
                stopping.mean_entropy(here.entropy)
            conditioning = model.self_conditioning(logits)
            watch.stop("step")
            taken = watch.take()
            taken["other"] = taken["step"] - sum(taken[name] for name in NAMES if name != "other")
            if number > WARM_UP:
                for name, values in parts.items():
                    values.append(taken[name])
    return parts


def _experts(model: Model, network: Any, text: str) -> list[int]:
    cache, canvas_ids = _prefilled(model, text)
    counts: list[int] = []
    with counted(network.model.decoder.layers, counts):
        model.decode_pass(cache, canvas_ids, None)
    return counts


def _sampling(shape: Shape, device: torch.device) -> tuple[list[float], list[float]]:
    """The sampling statistics of one step's logits, and a sum that reads these once."""
    logits = torch.randn(shape.canvas_length, shape.vocab_size, device=device)
    uniforms = draws.uniforms(0, 0, 1, "sample", shape.canvas_length).to(device)
    watch = Stopwatch(device)
    return _repeated(watch, lambda: summarise(logits, uniforms)), _repeated(watch, logits.sum)


def _repeated(watch: Stopwatch, what: Callable[[], object]) -> list[float]:
    times = []
    for number in range(READS + WARM_UP):
        with watch.span("it"):
            what()
        took = watch.take()["it"]
        if number >= WARM_UP:
            times.append(took)
    return times


def _ways(network: Any) -> str:
    """How transformers computes experts and attention here."""
    config = network.config.get_text_config()
    experts = getattr(config, "_experts_implementation", None) or "eager"
    return f"experts by {experts}, attention by {config._attn_implementation}"
