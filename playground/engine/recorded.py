"""A recorded run on its way through a check: its events one by one, and the fault that ends it."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from playground.errors import PlaygroundError
from playground.events import CanvasCommitted, CanvasStarted, Event, Step, Token

E = TypeVar("E", bound=Event)

SHOWN = 48
"""The most characters of a value that are shown."""


class DoesNotFollow(PlaygroundError):
    """A recorded value that the recipe and the model do not give."""

    def __init__(self, event: Event, name: str, reason: str) -> None:
        sentence = f"event {event.seq} ({place(event)}), {name}: {reason}"
        super().__init__("bad_request", sentence, f"events.{event.seq}.{name}")
        self.event = event
        self.name = name


def place(event: Event) -> str:
    """Where in the run an event stands, in words."""
    match event:
        case Step():
            return f"canvas {event.canvas}, step {event.step}"
        case CanvasStarted() | CanvasCommitted():
            return f"{event.type}, canvas {event.canvas}"
        case Token():
            return f"token {event.index}"
        case _:
            return event.type


class Recorded:
    """The events of a trace in order, of which at least one is left as long as `run_finished` was not taken."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._next = 0

    @property
    def next(self) -> Event:
        """The event to come."""
        return self._events[self._next]

    @property
    def previous(self) -> Event | None:
        """The event taken last."""
        return self._events[self._next - 1] if self._next else None

    def take(self, kind: type[E], why: str) -> E:
        """The next event, which must be of this kind. Raises `DoesNotFollow` with the reason."""
        event = self.next
        if not isinstance(event, kind):
            wanted = kind.model_fields["type"].default
            raise DoesNotFollow(event, "type", f"{wanted} comes here, not {event.type}: {why}")
        self._next += 1
        return event


def expect(event: Event, name: str, derived: Any) -> None:
    """The field must be what was derived. Raises `DoesNotFollow` naming the first entry that is not."""
    recorded = getattr(event, name)
    if recorded == derived:
        return
    if isinstance(recorded, list) and isinstance(derived, list):
        if len(recorded) != len(derived):
            raise DoesNotFollow(event, name, f"it has {len(recorded)} entries where {len(derived)} follow")
        at = next(at for at, pair in enumerate(zip(recorded, derived, strict=True)) if pair[0] != pair[1])
        raise DoesNotFollow(event, name, f"entry {at} is {_shown(recorded[at])} where {_shown(derived[at])} follows")
    if isinstance(recorded, dict) and isinstance(derived, dict):
        at = min(key for key in recorded.keys() | derived.keys() if recorded.get(key) != derived.get(key))
        raise DoesNotFollow(
            event, name, f"entry {at} is {_shown(recorded.get(at))} where {_shown(derived.get(at))} follows"
        )
    raise DoesNotFollow(event, name, f"it is {_shown(recorded)} where {_shown(derived)} follows")


def expect_close(event: Event, name: str, derived: float, slack: float) -> None:
    """The number must be what was derived, give or take `slack`."""
    recorded = getattr(event, name)
    if not abs(recorded - derived) <= slack:
        raise DoesNotFollow(event, name, f"it is {recorded!r} where {derived!r} follows")


def expect_each(
    event: Event, name: str, derived: Sequence[Any], fits: Callable[[int], bool], positions: Collection[int]
) -> int:
    """At these positions the column must hold what was derived, or else something that `fits`.

    Gives how many entries differ and fit. Raises `DoesNotFollow` for the first that does not.
    """
    recorded = getattr(event, name)
    differing = [at for at in positions if recorded[at] != derived[at]]
    for at in differing:
        if not fits(at):
            raise DoesNotFollow(
                event, name, f"position {at} has {_shown(recorded[at])} where the model gives {_shown(derived[at])}"
            )
    return len(differing)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
