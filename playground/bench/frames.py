"""What the page costs a browser while two lanes of 256 tokens play, frame by frame, beside an empty page.

The runs are true ones of a small random model; they are opened from files, as a person would, on the page that
`playground serve` gives.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from transformers import AutoTokenizer

from playground.bench import browser, server, timeline
from playground.engine import runs
from playground.engine.models import EMBEDDED_FOLDER, Model
from playground.engine.steering import Steering
from playground.events import Event
from playground.parameters import Decoding, EntropyBoundSampler
from playground.recipe import Message, Mode, Recipe
from playground.settings import Settings
from playground.tiny.model import ModelSize, new_model
from playground.trace import file as trace_file
from playground.trace.log import RunLog

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TOKENS = 256
"""The released model's canvas."""
PROMPT = "Tell a story about a fox named Mia."
SHARPNESS = 4.0
BOUND = 60.0
"""With these a random model behaves as a trained one does, only worse: about half of its canvas changes with every step
at first, and it settles towards the end."""
FLAT = Decoding(temperature=2.0, top_k=0, top_p=1.0)
"""For the autoregressive run, which would otherwise write one token over and over."""
MOST_SEEDS = 20
SECONDS = 3.0
SPEEDS = (4, 16)
"""Steps a second: the one that the page opens with, and the fastest besides as fast as it goes."""
VIEWPORT = (1280, 900)
PATIENCE_MS = 120_000

SERVER = (sys.executable, "-m", "playground.cli", "serve")
SETTINGS = {"PLAYGROUND_STORE": "", "PLAYGROUND_MODEL": "embedded", "PLAYGROUND_DEVICE": "cpu"}

EMPTY = "<!doctype html><title>empty</title><script>const go = () => requestAnimationFrame(go); go();</script>"


@dataclass(frozen=True)
class Scene:
    """What was on the page, and its frames."""

    name: str
    frames: list[timeline.Frame]


@dataclass(frozen=True)
class Result:
    """The browser's name and version, and the scenes in the order of their recording."""

    browser: str
    scenes: list[Scene]


def measure(seconds: float = SECONDS) -> Result:
    """Record an empty page, a race of two diffusion runs, and a diffusion run beside an autoregressive one.

    seconds: how long each is recorded. Raises `browser.NoBrowser` where there is nothing to measure in.
    """
    browser.executable()
    with tempfile.TemporaryDirectory() as folder, browser.chromium() as chromium:
        files = write_traces(Path(folder))
        with server.running(SERVER, SETTINGS, quiet=True) as url:
            page = chromium.new_page(viewport={"width": VIEWPORT[0], "height": VIEWPORT[1]})
            page.set_default_timeout(PATIENCE_MS)

            def record(name: str, play: Callable[[], None]) -> Scene:
                play()
                page.wait_for_timeout(500)
                return Scene(name, _recorded(chromium, page, seconds))

            scenes = [record("empty page", partial(page.set_content, EMPTY))]
            _visit(page, url)
            scenes.append(record("race of two diffusion runs", partial(_race, page, files["diffusion"])))
            _beside(page, files["autoregressive"][0])
            for speed in SPEEDS:
                scenes.append(record(f"diffusion beside AR, {speed} steps/s", partial(_play, page, speed)))
            return Result(f"Chromium {chromium.version}", scenes)


def table(scenes: list[Scene]) -> Iterator[str]:
    """The figures of the scenes, a line each below a head: milliseconds a frame on the page's main thread."""
    yield "main thread, ms a frame             frames    p50    p95    max | p95: script layout  paint |    cpu"
    for scene in scenes:
        totals = [_figure(scene, share, "total") for share in (0.5, 0.95, 1)]
        kinds = [_figure(scene, 0.95, kind) for kind in timeline.KINDS]
        cpu = _figure(scene, 0.95, "cpu")
        yield f"{scene.name:<35} {len(scene.frames):6} {' '.join(totals)} |      {' '.join(kinds)} | {cpu}"


def _figure(scene: Scene, share: float, name: str) -> str:
    values = [value for frame in scene.frames if (value := getattr(frame, name)) is not None]
    return f"{timeline.percentile(values, share):6.2f}" if values else "     –"


def write_traces(folder: Path) -> dict[Mode, list[Path]]:
    """Two diffusion runs and an autoregressive one, each with an answer of 256 tokens, as trace files in the folder."""
    model = _random_model()
    wanted: dict[Mode, int] = {"diffusion": 2, "autoregressive": 1}
    files: dict[Mode, list[Path]] = {mode: [] for mode in wanted}
    for mode, count in wanted.items():
        for seed in range(MOST_SEEDS):
            lines, tokens = _run(model, mode, seed)
            if tokens < TOKENS:  # it drew an end of turn
                continue
            path = folder / f"{mode}-{seed}.jsonl"
            with trace_file.writing(path) as target:
                target.write(lines)
            files[mode].append(path)
            if len(files[mode]) == count:
                break
        else:
            raise RuntimeError(f"no {count} runs of {TOKENS} tokens in {MOST_SEEDS} seeds")
    return files


def _random_model() -> Model:
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED_FOLDER, local_files_only=True)
    size = ModelSize(
        vocab_size=len(tokenizer), canvas_length=TOKENS, hidden_size=48, mlp_size=64, experts_size=16, layers=3,
        heads=2, kv_heads=1, head_dim=24,
    )  # fmt: skip
    network = new_model(size).eval()
    with torch.no_grad():
        network.lm_head.weight.mul_(SHARPNESS)
    return Model(network, tokenizer, "random", "0")


def _run(model: Model, mode: Mode, seed: int) -> tuple[bytes, int]:
    """A whole run as the lines of a trace, and how many tokens it has."""
    recipe = Recipe(
        mode=mode,
        messages=[Message(role="user", content=PROMPT)],
        seed=seed,
        max_new_tokens=TOKENS,
        sampler=EntropyBoundSampler(entropy_bound=BOUND),
        decoding=FLAT,
    )
    recipe = runs.prepare(model, recipe, Settings())
    log = RunLog()
    last: Event | None = None
    for event in runs.events(model, recipe, Steering(recipe)):
        last = log.append(event)
    lines = b"".join(log.line(seq) + b"\n" for seq in range(len(log)))
    return lines, last.metrics.total_tokens if last is not None and last.type == "run_finished" else 0


def _visit(page: "Page", url: str) -> None:
    page.goto(url)
    page.locator("#denoise[data-ready][data-model=ready]").wait_for()
    page.locator(".lane[data-run]").first.wait_for()


def _open(page: "Page", path: Path) -> None:
    """Open a trace with the page's own button, and look at its end."""
    lane = page.locator(f".lane[data-mode={path.stem.rpartition('-')[0]}]")
    before = lane.get_attribute("data-run")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Open file").click()
    chooser.value.set_files(path)
    page.wait_for_function(
        "([mode, before]) => document.querySelector(`.lane[data-mode=${mode}]`).dataset.run !== before",
        arg=[path.stem.rpartition("-")[0], before],
    )
    lane.locator(".timeline").focus()
    page.keyboard.press("End")


def _race(page: "Page", files: list[Path]) -> None:
    for path in files:
        _open(page, path)
    page.get_by_role("button", name="Race", exact=True).click()


def _beside(page: "Page", path: Path) -> None:
    page.get_by_role("button", name="End race").click()
    _open(page, path)
    page.locator("#mode").get_by_text("Side by side").click()


def _play(page: "Page", steps_per_second: int) -> None:
    """Play both lanes from their beginnings."""
    page.locator(".lane:visible .speed").first.select_option(str(steps_per_second))
    for lane in page.locator(".lane:visible").all():
        lane.locator(".timeline").focus()
        page.keyboard.press("Home")
        lane.locator(".round").click()


def _recorded(chromium: "Browser", page: "Page", seconds: float) -> list[timeline.Frame]:
    chromium.start_tracing(page=page, categories=list(timeline.CATEGORIES))
    page.wait_for_timeout(seconds * 1000)
    return timeline.frames(chromium.stop_tracing())
