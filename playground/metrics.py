"""Figures of a run, from its events: Equations 7–10 of the report, times and rates."""

from playground import loops
from playground.events import CanvasCommitted, CanvasStarted, Event, Loop, Metrics, Prefill, RunStarted, Step, Token


def total_tokens(valid: list[int]) -> int:
    """Equation 7: Σ C_k, the valid tokens of each canvas."""
    return sum(valid)


def total_denoising_steps(steps: list[int]) -> int:
    """Equation 8: Σ N_k, the steps taken on each canvas."""
    return sum(steps)


def effective_denoising_steps(steps: list[int], valid: list[int]) -> float | None:
    """Equation 9: Σ N_k C_k / Σ C_k; none without tokens."""
    tokens = total_tokens(valid)
    return sum(n * c for n, c in zip(steps, valid, strict=True)) / tokens if tokens else None


def forward_passes(steps: list[int]) -> int:
    """Denominator of Equation 10: Σ N_k + K − 1, one encoding pass between canvases."""
    return total_denoising_steps(steps) + max(0, len(steps) - 1)


def tokens_per_forward(steps: list[int], valid: list[int]) -> float | None:
    """Equation 10: Σ C_k / (Σ N_k + K − 1); none without a pass."""
    passes = forward_passes(steps)
    return total_tokens(valid) / passes if passes else None


class Meter:
    """Adds up a run's figures while its events go by."""

    def __init__(self) -> None:
        self._steps: list[int] = []
        self._valid: list[int] = []
        self._tokens = 0
        self._open_steps = 0
        self._started = 0
        self._prefill_ms = 0.0
        self._device_ms = 0.0
        self._first_ms: float | None = None
        self._loops = 0
        self._started_as: RunStarted | None = None
        self._written: list[Token] = []

    def see(self, event: Event) -> None:
        """Take an event in; order matters as in the log."""
        match event:
            case RunStarted():
                self._started_as = event
            case Prefill():
                self._prefill_ms = self._device_ms = event.device_ms
            case CanvasStarted():
                self._started += 1
                if event.canvas == 0:
                    self._prefill_ms = event.device_ms
                self._device_ms = event.device_ms
            case Step():
                self._open_steps += 1
                self._device_ms = event.device_ms
            case CanvasCommitted():
                self._steps.append(event.steps)
                self._valid.append(len(event.ids))
                self._open_steps = 0
                self._loops += event.loop is not None
                self._device_ms = event.device_ms
                if self._first_ms is None:
                    self._first_ms = event.device_ms - event.ms
            case Token():
                if event.index == 0:
                    self._prefill_ms = event.device_ms - event.ms
                    self._first_ms = event.device_ms
                self._tokens += 1
                self._written.append(event)
                self._device_ms = event.device_ms
            case _:
                pass

    @property
    def loop(self) -> Loop | None:
        """The loop that the autoregressive answer so far ends in."""
        if not self._written or self._started_as is None:
            return None
        ids = [token.id for token in self._written]
        texts = {name: text for token in self._written for name, text in token.texts.items()}
        return loops.of_tokens(
            ids,
            [token.entropy for token in self._written],
            ids[-1] in self._started_as.end_ids,
            texts,
            self._started_as.recipe.messages[-1].text,
        )

    def metrics(self, mode: str, wall_seconds: float, shared_device: bool, max_new_tokens: int) -> Metrics:
        """The figures so far. Steps of a canvas that was not committed count as passes but carry no tokens."""
        diffusion = mode == "diffusion"
        tokens = total_tokens(self._valid) if diffusion else self._tokens
        steps = [*self._steps, self._open_steps] if self._started > len(self._steps) else self._steps
        passes = forward_passes(steps) if diffusion else self._tokens
        return Metrics(
            total_tokens=tokens,
            total_denoising_steps=total_denoising_steps(steps) if diffusion else None,
            effective_denoising_steps=effective_denoising_steps(self._steps, self._valid) if diffusion else None,
            tokens_per_forward=tokens / passes if passes else None,
            forward_passes=passes,
            canvases=len(self._steps) if diffusion else 0,
            seconds=self._device_ms / 1000,
            prefill_seconds=self._prefill_ms / 1000,
            wall_seconds=wall_seconds,
            time_to_first_token=None if self._first_ms is None else self._first_ms / 1000,
            tokens_per_second=self._rate(diffusion, tokens),
            shared_device=shared_device,
            trimmed_tokens=max(0, tokens - max_new_tokens),
            loops=self._loops if diffusion else int(self.loop is not None),
        )

    def _rate(self, diffusion: bool, tokens: int) -> float | None:
        if diffusion:
            ms, counted = self._device_ms - self._prefill_ms, tokens
        else:
            ms, counted = self._device_ms - (self._first_ms or 0.0), tokens - 1
        return counted / (ms / 1000) if ms > 0 and counted > 0 else None
