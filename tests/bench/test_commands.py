import re

import pytest
from typer.testing import CliRunner

from playground.cli import app

SPREAD = r"[\d.]+ \([\d.]+ to [\d.]+\)"


GPU = [
    r"small shape, random weights, float32: 584,224 parameters; torch .*",
    r"6 layers, 2 of 16 experts a token, experts by \w+, attention by \w+; "
    r"canvas 32, vocabulary 2048, prompt of 9 tokens",
    r"median \(least to most\), ms",
    rf"a step +{SPREAD}",
    *[rf"  {name} +{SPREAD}  \d+%" for name in ("MoE", "attention", "other", "sampling", "copy")],
    rf"a step, whole canvas +{SPREAD}  prefill and events included",
    rf"the same, generate\(\) +{SPREAD}",
    rf"ratio +{SPREAD} over 1 interleaved pairs",
    rf"a token, AR +{SPREAD}",
    r"r, a step over a token +([\d.]+): diffusion is faster above \1 tokens a step",
    r"TPF/r +[\d.]+ at 8\.00 tokens a step, as here \(all 4 steps\)",
    r" +[\d.]+ at 19\.74, the released model's by its report",
    r"distinct experts a canvas +1\d\.\d \(1\d to 1\d\) of 16 a layer; .* about 84 of 128",
    rf"sampling statistics +{SPREAD}",
    rf"one read of the logits +{SPREAD}",
    r"the first over the second +[\d.]+",
]


def test_the_gpu_benchmark_measures_a_small_shape_on_a_cpu() -> None:
    arguments = ["--device", "cpu", "--steps", "4", "--tokens", "3", "--prompt-tokens", "9", "--seconds", "0"]
    result = CliRunner().invoke(app, ["bench", "gpu", *arguments])
    assert result.exit_code == 0, result.output
    for line, pattern in zip(result.stdout.splitlines(), GPU, strict=True):
        assert re.fullmatch(pattern, line), line


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--small"], "playground: --device: torch sees no CUDA device here; --device cpu runs "),
        (["--device", "cpu", "--compile", "graphs"], "playground: --compile: takes none, step, or on a GPU graphs"),
        (["--device", "tpu"], "playground: --device: takes cpu, cuda or cuda:N, not 'tpu'."),
        (["--device", "cpu", "--prompt-tokens", "5000"], "The prompt has 5000 tokens"),
    ],
)
def test_the_gpu_benchmark_says_what_stands_in_its_way(
    arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    result = CliRunner().invoke(app, ["bench", "gpu", *arguments])
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_small_gpu_is_refused_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    monkeypatch.setattr("torch.cuda.mem_get_info", lambda _: (8 << 30, 8 << 30))
    result = CliRunner().invoke(app, ["bench", "gpu"])
    assert result.exit_code == 2
    assert re.fullmatch(
        r"playground: --device: the released shape \(26B-A4B\) needs about 5\d GiB there, and 8 are free; .*\n",
        result.stderr,
    )


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (
            ["sampling", "--canvas", "8", "--vocabulary", "64", "--repeats", "2"],
            [
                r"sampling of one step, 8 x 64 float32; torch .*",
                rf"ours +{SPREAD} ms",
                rf"reference +{SPREAD} ms",
                rf"ratio +{SPREAD} over 2 interleaved pairs",
            ],
        ),
        (
            ["steps", "--steps", "2", "--repeats", "1"],
            [
                r"one canvas of \d+, 2 steps, prefill included; torch .*",
                rf"engine +{SPREAD} ms a step",
                rf"generate\(\) +{SPREAD} ms a step",
                rf"ratio +{SPREAD} over 1 interleaved pairs",
                rf"autoregressive +{SPREAD} ms a token",
            ],
        ),
    ],
)
def test_a_benchmark_prints_its_figures(arguments: list[str], lines: list[str]) -> None:
    result = CliRunner().invoke(app, ["bench", *arguments])
    assert result.exit_code == 0, result.output
    for line, pattern in zip(result.stdout.splitlines(), lines, strict=True):
        assert re.fullmatch(pattern, line), line
