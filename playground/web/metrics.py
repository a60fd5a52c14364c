"""Figures of the process for Prometheus, in a registry of their own."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from playground.events import Event, RunFinished, RunStarted, Step, Token

CONTENT_TYPE = CONTENT_TYPE_LATEST

STEP_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class ProcessMetrics:
    """Counts what goes by in all runs together."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._started = Counter("playground_runs_started", "Runs started", ["mode"], registry=self._registry)
        self._finished = Counter(
            "playground_runs_finished", "Runs finished, by stop reason", ["stop_reason"], registry=self._registry
        )
        self._steps = Counter("playground_steps", "Denoising steps and tokens", ["mode"], registry=self._registry)
        self._seconds = Histogram(
            "playground_step_seconds",
            "Device time of a denoising step or a token",
            ["mode"],
            buckets=STEP_SECONDS,
            registry=self._registry,
        )

    def gauge(self, name: str, description: str, value: Callable[[], float]) -> None:
        """Have a figure read whenever the metrics are asked for."""
        Gauge(f"playground_{name}", description, registry=self._registry).set_function(value)

    def see(self, event: Event) -> None:
        """Take an event in."""
        match event:
            case RunStarted():
                self._started.labels(event.recipe.mode).inc()
            case Step() | Token():
                mode = "diffusion" if isinstance(event, Step) else "autoregressive"
                self._steps.labels(mode).inc()
                self._seconds.labels(mode).observe(event.ms / 1000)
            case RunFinished():
                self._finished.labels(event.stop_reason).inc()
            case _:
                pass

    def exposition(self) -> bytes:
        """All figures in Prometheus' text format."""
        return generate_latest(self._registry)
