"""What a viewer knows after some of a run's events: one lane, as on the page."""

from dataclasses import dataclass, field
from typing import Literal

from playground import events

Mark = Literal["draft", "new", "kept", "revised", "released", "committed"]


@dataclass(frozen=True)
class Cell:
    """One position of the canvas as it is shown."""

    id: int
    text: str
    mark: Mark


@dataclass
class Lane:
    """The state of one run, event by event. `apply` is all that changes it."""

    started: events.RunStarted | None = None
    reading: events.Prefill | None = None
    """How far the prompt is read; none before its first part, and once there is a canvas or a token."""
    commits: list[events.CanvasCommitted] = field(default_factory=list)
    canvas: int = 0
    """The canvas that `cells` shows, from 0."""
    cells: list[Cell] = field(default_factory=list)
    step: events.Step | None = None
    """The last step of the open canvas; none while it is still noise."""
    entropies: list[list[float]] = field(default_factory=list)
    """Mean entropy of each step, canvas by canvas."""
    token: events.Token | None = None
    error: events.Error | None = None
    finished: events.RunFinished | None = None
    _accepted: dict[int, int] = field(default_factory=dict)
    """Position → the token it was last accepted with, in the open canvas."""

    def apply(self, event: events.Event) -> None:
        """Take in the next event of the run."""
        match event:
            case events.RunStarted():
                self.started = event
            case events.Prefill():
                self.reading = event
            case events.CanvasStarted():
                self.reading = None
                self._open(event)
            case events.Step():
                self._denoise(event)
            case events.CanvasCommitted():
                self._commit(event)
            case events.Token():
                self.token, self.reading = event, None
            case events.Error():
                self.error = event
            case events.RunFinished():
                self.finished = event

    @property
    def mode(self) -> str:
        """The run's mode, diffusion until it is known."""
        return self.started.recipe.mode if self.started else "diffusion"

    @property
    def committed(self) -> bool:
        """Whether the canvas that `cells` shows has become history."""
        return bool(self.commits) and self.commits[-1].canvas == self.canvas

    @property
    def draft(self) -> str:
        """The predicted text of an open canvas, up to its first end token; empty if none is open."""
        if self.step is None or self.committed:
            return ""
        pieces = []
        for token in self.step.predicted:
            if self.ends(token):
                break
            pieces.append(_text(self.step.texts, token))
        return "".join(pieces)

    def ends(self, token: int) -> bool:
        """Whether this token ends a turn."""
        return self.started is not None and token in self.started.end_ids

    def _open(self, event: events.CanvasStarted) -> None:
        self.canvas = event.canvas
        self.step = None
        self._accepted = {}
        self.entropies.append([])
        self.cells = [Cell(token, _text(event.texts, token), "draft") for token in event.canvas_ids]

    def _denoise(self, event: events.Step) -> None:
        before = self.step
        self.cells = []
        for position, accepted in enumerate(event.accepted):
            was_accepted = before is not None and before.accepted[position]
            mark: Mark
            if not accepted:
                mark = "released" if was_accepted else "draft"
            elif before is None or not was_accepted:
                mark = "new"
            else:
                mark = "kept" if before.sampled[position] == event.sampled[position] else "revised"
            token = event.sampled[position] if accepted else event.predicted[position]
            self.cells.append(Cell(token, _text(event.texts, token), mark))
            if accepted:
                self._accepted[position] = token
        self.step = event
        if not self.entropies:
            self.entropies.append([])
        self.entropies[-1].append(event.mean_entropy)

    def _commit(self, event: events.CanvasCommitted) -> None:
        self.commits.append(event)
        self.cells = [
            Cell(token, _text(event.texts, token), self._committed_mark(position, token))
            for position, token in enumerate(event.ids)
        ]

    def _committed_mark(self, position: int, token: int) -> Mark:
        return "committed" if self._accepted.get(position, token) == token else "revised"


def _text(texts: dict[int, str], token: int) -> str:
    return texts.get(token, f"⟨{token}⟩")
