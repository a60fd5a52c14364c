import re

import pytest
from typer.testing import CliRunner

from playground.cli import app

SPREAD = r"[\d.]+ \([\d.]+ to [\d.]+\)"


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
