"""The commands with a hand-made run in the model's place."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from playground import __version__, cli, events
from playground.engine.steering import Steering
from playground.errors import ModelError, PlaygroundError
from playground.parameters import Decoding, EntropyBoundSampler
from playground.recipe import Recipe
from playground.settings import Settings
from playground.trace import file as trace_file
from tests.terminal import runs


def invoke(*arguments: str, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(cli.app, list(arguments), input=stdin)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Recipe]:
    """Puts a hand-made run in the model's place; lists the recipes that were asked for."""
    recipes: list[Recipe] = []

    def live(recipe: Recipe, settings: Settings) -> tuple[Iterator[events.Event], Steering]:
        assert settings.model == "embedded"
        recipes.append(recipe)
        return iter(runs.whole()), Steering(recipe)

    monkeypatch.setattr(cli, "_live", live)
    return recipes


def test_version() -> None:
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.stdout == f"playground {__version__}\n"


def test_help_is_quick_because_it_loads_no_model_code() -> None:
    code = (
        "import sys, contextlib\nfrom playground.cli import app\n"
        "with contextlib.suppress(SystemExit): app(['generate', '--help'])\n"
        "assert not {'torch', 'transformers', 'gradio', 'playground.recipe'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_defaults_told_in_the_help_are_the_recipes() -> None:
    text = " ".join(invoke("generate", "--help").stdout.split())
    defaults = (
        EntropyBoundSampler().model_dump(exclude={"name"})
        | Decoding().model_dump()
        | {name: Recipe.model_fields[name].default for name in ("seed", "max_new_tokens")}
    )
    for name, default in defaults.items():
        option = re.search(rf"--{name.replace('_', '-')} .*?\(default ([\d.]+)\)", text)
        assert option is not None, name
        assert float(option[1]) == default, name


def test_every_option_reaches_the_recipe(asked: list[Recipe]) -> None:
    result = invoke(
        *("generate", "hi", "--seed", "7", "--max-new-tokens", "9", "--entropy-bound", "1", "--t-max", "0.7"),
        *("--t-min", "0.7", "--max-denoising-steps", "3", "--confidence-threshold", "0", "--stability-threshold", "0"),
        *("--temperature", "0", "--top-k", "0", "--top-p", "1", "--mode", "autoregressive"),
    )
    assert result.exit_code == 0, result.output
    recipe = asked[0]
    assert recipe.mode == "autoregressive"
    assert (recipe.seed, recipe.max_new_tokens) == (7, 9)
    assert recipe.sampler == EntropyBoundSampler(
        entropy_bound=1.0, t_max=0.7, t_min=0.7, max_denoising_steps=3, confidence_threshold=0.0, stability_threshold=0
    )
    assert recipe.decoding == Decoding(temperature=0.0, top_k=0, top_p=1.0)


@pytest.mark.usefixtures("asked")
def test_without_a_terminal_there_is_the_answer_and_no_control_code() -> None:
    result = invoke("generate", "hi")
    assert result.exit_code == 0
    assert result.stdout.startswith(" red red fox\n\n3 tokens")
    assert result.stdout.endswith("Stopped: the model ended its turn.\n")
    assert "\x1b" not in result.stdout
    assert result.stderr == ""


def test_a_dash_reads_the_prompt_from_standard_input(asked: list[Recipe]) -> None:
    assert invoke("generate", "-", stdin="two\nlines\n").exit_code == 0
    assert asked[0].messages[0].content == "two\nlines"


@pytest.mark.usefixtures("asked")
def test_json_is_one_object_and_nothing_else() -> None:
    result = invoke("generate", "hi", "--json")
    parsed = json.loads(result.stdout)
    assert list(parsed) == ["text", "metrics", "recipe"]
    assert parsed["text"] == " red red fox"
    assert events.Metrics.model_validate(parsed["metrics"]).total_tokens == 3
    assert Recipe.model_validate_json(json.dumps(parsed["recipe"])).mode == "diffusion"
    assert result.stdout.count("\n") == 1


@pytest.mark.usefixtures("asked")
def test_a_trace_holds_every_event_with_its_alternatives(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    assert invoke("generate", "hi", "--trace", str(path)).exit_code == 0
    trace = trace_file.read(path)
    assert [event.type for event in trace] == [event.type for event in runs.whole()]
    assert [event.seq for event in trace] == list(range(6))
    assert trace[2].top_ids is not None


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--entropy-bound", "-1"], "--entropy-bound: should be greater than or equal to 0, not -1.0"),
        (["--entropy-bound", "nan"], "--entropy-bound: should be a finite number, not nan"),
        (["--t-max", "inf"], "--t-max: should be a finite number, not inf"),
        (["--t-min", "0.9"], "sampler: t_min (0.9) must not be above t_max (0.8)"),
        (["--max-denoising-steps", "0"], "--max-denoising-steps: should be greater than or equal to 1, not 0"),
        (["--seed", "-3"], "--seed: should be greater than or equal to 0, not -3"),
        (["--max-new-tokens", "0"], "--max-new-tokens: should be greater than or equal to 1, not 0"),
        (["--mode", "both"], "--mode: should be 'diffusion' or 'autoregressive', not 'both'"),
        (["--top-p", "0"], "--top-p: should be greater than 0, not 0.0"),
        (["--temperature", "-1"], "--temperature: should be greater than or equal to 0, not -1.0"),
        (["--trace", "/"], "--trace: / is not a regular file."),
    ],
)
def test_a_bad_value_gets_one_sentence(asked: list[Recipe], arguments: list[str], complaint: str) -> None:
    result = invoke("generate", "hi", *arguments)
    assert result.exit_code == 2
    assert result.stderr == f"playground: {complaint}\n"
    assert result.stdout == ""
    assert not asked


@pytest.mark.parametrize(
    ("prompt", "stdin", "complaint"),
    [
        ("  ", "", "the prompt: the prompt is empty: the last message needs some text"),
        ("-", "", "the prompt: the prompt is empty: the last message needs some text"),
        ("-", b"\xff", "the prompt: standard input is not UTF-8 (invalid start byte)"),
        (
            "\udcff",
            "",
            "the prompt: should be a valid string, unable to parse raw data as a unicode string, not '\\udcff'",
        ),
    ],
)
@pytest.mark.usefixtures("asked")
def test_a_bad_prompt_gets_one_sentence(prompt: str, stdin: str, complaint: str) -> None:
    result = invoke("generate", prompt, stdin=stdin)
    assert result.exit_code == 2
    assert result.stderr == f"playground: {complaint}\n"


def test_an_option_of_the_wrong_type_is_named() -> None:
    result = invoke("generate", "hi", "--seed", "soon")
    assert result.exit_code == 2
    assert "Invalid value for '--seed'" in result.stderr


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("PORT", "99999", "port (PLAYGROUND_PORT): should be less than or equal to 65535"),
        ("DEVICE", "foo", "device (PLAYGROUND_DEVICE): takes `auto`, `cpu`, `cuda` or `cuda:N`, not 'foo'"),
    ],
)
def test_a_bad_environment_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str) -> None:
    monkeypatch.setenv(f"PLAYGROUND_{name}", value)
    result = invoke("generate", "hi")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"playground: {sentence}")


@pytest.mark.parametrize(
    ("error", "code", "complaint"),
    [
        (ModelError("there is no model at nowhere"), 1, "there is no model at nowhere"),
        (PlaygroundError("too_long", "at most 5", "recipe.max_new_tokens"), 2, "--max-new-tokens: at most 5"),
        (PlaygroundError("too_long", "too many", "recipe.messages"), 2, "the prompt: too many"),
    ],
)
def test_a_refusal_of_the_engine_gets_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: PlaygroundError, code: int, complaint: str
) -> None:
    def live(*_: object) -> None:
        raise error

    monkeypatch.setattr(cli, "_live", live)
    result = invoke("generate", "hi", "--trace", str(tmp_path / "run.jsonl"))
    assert result.exit_code == code
    assert result.stderr == f"playground: {complaint}\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("as_json", [False, True])
def test_a_run_that_fails_exits_with_1(monkeypatch: pytest.MonkeyPatch, as_json: bool) -> None:
    error = events.Error(code="out_of_memory", message="the device ran out of memory")
    failed = [runs.started(), error, runs.finished("", stop_reason="error")]
    monkeypatch.setattr(cli, "_live", lambda recipe, _: (iter(failed), Steering(recipe)))
    result = invoke("generate", "hi", *(["--json"] if as_json else []))
    assert result.exit_code == 1
    assert "the device ran out of memory" in (result.stderr if as_json else result.stdout)
    if as_json:
        assert json.loads(result.stdout)["text"] == ""


@pytest.mark.parametrize(("received", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_cancels_the_run_and_prints_what_there_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, received: signal.Signals, code: int
) -> None:
    def live(recipe: Recipe, _: Settings) -> tuple[Iterator[events.Event], Steering]:
        steering = Steering(recipe)

        def source() -> Iterator[events.Event]:
            yield from runs.whole()[:4]
            os.kill(os.getpid(), received)
            assert steering.cancelled
            yield runs.finished("", stop_reason="cancelled")

        return source(), steering

    monkeypatch.setattr(cli, "_live", live)
    before = signal.getsignal(received)
    result = invoke("generate", "hi", "--trace", str(tmp_path / "run.jsonl"))
    assert result.exit_code == code
    assert result.stdout.startswith("draft, not committed:  red red fox\n")
    assert result.stdout.endswith("Cancelled.\n")
    assert signal.getsignal(received) is before
    assert trace_file.read(tmp_path / "run.jsonl")[-1].stop_reason == "cancelled"


@pytest.mark.usefixtures("asked")
def test_replay_plays_a_trace_without_a_model(tmp_path: Path) -> None:
    path = str(tmp_path / "run.jsonl")
    live = invoke("generate", "hi", "--trace", path)
    assert invoke("replay", path).stdout == live.stdout
    assert json.loads(invoke("replay", path, "--json").stdout)["text"] == " red red fox"
    code = (
        "import sys, contextlib\nfrom playground.cli import app\n"
        f"with contextlib.suppress(SystemExit): app(['replay', {path!r}])\nassert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_replay_names_the_line_at_fault(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"type": "run_st')
    result = invoke("replay", str(path))
    assert result.exit_code == 2
    assert (
        result.stderr
        == f"playground: {path}, line 1: is cut off or not JSON; a trace has one event, a JSON object, on each line.\n"
    )


def test_serve_hands_its_options_to_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    from playground.web import server

    served: list[Settings] = []
    monkeypatch.setattr(server, "serve", lambda settings, _: served.append(settings))
    assert invoke("serve", "--port", "0", "--host", "::1").exit_code == 0
    assert (served[0].port, served[0].host, served[0].model) == (0, "::1", "embedded")
    result = invoke("serve", "--port", "70000")
    assert result.exit_code == 2
    assert result.stderr == "playground: port (PLAYGROUND_PORT): should be less than or equal to 65535, not 70000\n"
