from typing import Any

import pytest

from playground.ui.figures import of_summary


def denoised(**changes: Any) -> dict[str, Any]:
    run: dict[str, Any] = {
        "mode": "diffusion",
        "canvas_length": 64,
        "canvas": [0, 0, 1],
        "step": [1, 2, 1],
        "entropy": [1.5, 0.0, 0.3],
        "accepted": [5, 64, 60],
        "temperature": [0.8, 0.79, 0.8],
        "confidence_threshold": [0.005, 0.005, 0.005],
        "device_ms": [10.0, 20.0, 30.0],
    }
    return {"runs": [run | changes]}


def test_denoising_has_entropy_threshold_and_accepted() -> None:
    figure = of_summary(denoised())
    assert figure is not None
    assert [trace.name for trace in figure.data] == ["mean entropy", "stop below", "accepted"]
    assert list(figure.data[0].text) == ["canvas 1, step 1", "canvas 1, step 2", "canvas 2, step 1"]
    assert min(figure.data[0].y) > 0, "the axis is logarithmic"
    assert {shape.x0 for shape in figure.layout.shapes} == {2.5}, "a line between the canvases"


def test_no_threshold_no_line() -> None:
    figure = of_summary(denoised(confidence_threshold=[0.0, 0.0, 0.0]))
    assert figure is not None
    assert [trace.name for trace in figure.data] == ["mean entropy", "accepted"]


def test_writing_alone() -> None:
    figure = of_summary({"runs": [{"mode": "autoregressive", "entropy": [0.1, 2.0], "device_ms": [8.0, 16.0]}]})
    assert figure is not None
    assert list(figure.data[0].y) == [0.1, 2.0]


@pytest.mark.parametrize(
    "value",
    [
        None,
        "<b>text</b>",
        {"runs": []},
        denoised(entropy=[float("nan")] * 3),
        denoised(text="no text travels"),
        denoised(entropy=[0.0] * 30_000),
        denoised(canvas=[], step=[], entropy=[], accepted=[], temperature=[], confidence_threshold=[], device_ms=[]),
    ],
)
def test_anything_else_has_no_figure(value: object) -> None:
    assert of_summary(value) is None
