"""What a recorded browser trace says of each frame: script, style and layout, paint, on the page's main thread."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

CATEGORIES = ("-*", "devtools.timeline", "disabled-by-default-devtools.timeline.frame")
"""What has to be recorded; nothing more, because recording costs time itself."""

FRAME = "BeginMainThreadFrame"

KINDS = {
    "script": (
        "FireAnimationFrame",
        "FunctionCall",
        "EvaluateScript",
        "TimerFire",
        "EventDispatch",
        "RunMicrotasks",
        "FireIdleCallback",
        "XHRReadyStateChange",
        "XHRLoad",
        "MinorGC",
        "MajorGC",
    ),
    "layout": ("UpdateLayoutTree", "RecalculateStyles", "Layout", "HitTest"),
    "paint": ("PrePaint", "Paint", "Layerize", "UpdateLayer", "CompositeLayers", "Commit"),
}
"""Events by what they count as; an event inside another takes its time away from that one."""

_KIND_OF = {name: kind for kind, names in KINDS.items() for name in names}


@dataclass(frozen=True)
class Frame:
    """Milliseconds that one frame took of the main thread.

    cpu: of all three, as the thread's own clock has it (time in which another process had the core left out); None
    where the browser does not record that.
    """

    script: float
    layout: float
    paint: float
    cpu: float | None

    @property
    def total(self) -> float:
        """Script, style, layout and paint together."""
        return self.script + self.layout + self.paint


def frames(trace: bytes) -> list[Frame]:
    """The frames of the thread with the most of them, in order, each from its beginning to the beginning of the next.

    trace: JSON as Chromium's tracing gives it. The last frame, which nothing ends, is left out. Raises `ValueError`
    where this is no trace.
    """
    try:
        events: list[dict[str, Any]] = json.loads(trace)["traceEvents"]
    except (ValueError, KeyError, TypeError):
        raise ValueError("this is no browser trace") from None
    threads = Counter(_thread(event) for event in events if event.get("name") == FRAME)
    if not threads:
        return []
    main = threads.most_common(1)[0][0]
    own = [event for event in events if _thread(event) == main]
    begins = sorted(event["ts"] for event in own if event["name"] == FRAME)
    works = [event for event in own if event.get("ph") == "X" and event["name"] in _KIND_OF]
    works.sort(key=lambda event: (event["ts"], -event.get("dur", 0)))
    return list(_frames(begins, works))


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that this share of all values does not exceed. Raises `ValueError` where there are none."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]


def _thread(event: dict[str, Any]) -> tuple[Any, Any]:
    return event.get("pid"), event.get("tid")


def _frames(begins: list[int], works: list[dict[str, Any]]) -> Iterator[Frame]:
    at = 0
    while at < len(works) and works[at]["ts"] < begins[0]:
        at += 1
    for end in begins[1:]:
        mine = []
        while at < len(works) and works[at]["ts"] < end:
            mine.append(works[at])
            at += 1
        yield _frame(mine)


def _frame(works: list[dict[str, Any]]) -> Frame:
    """Each event's own time, that of the events inside it taken off, by kind; microseconds become milliseconds."""
    spent = dict.fromkeys(KINDS, 0)
    cpu = 0
    known = True
    open_events: list[tuple[int, str]] = []
    for work in works:
        start, length, kind = work["ts"], work.get("dur", 0), _KIND_OF[work["name"]]
        while open_events and open_events[-1][0] <= start:
            open_events.pop()
        if open_events:
            spent[open_events[-1][1]] -= length
        else:
            cpu += work.get("tdur", 0)
            known = known and "tdur" in work
        spent[kind] += length
        open_events.append((start + length, kind))
    script, layout, paint = (spent[kind] / 1000 for kind in KINDS)
    return Frame(script, layout, paint, cpu / 1000 if known else None)
