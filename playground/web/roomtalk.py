"""What is said in a room: the teacher's and the students' messages, and how the room stands."""

from typing import Annotated, Literal

from pydantic import Field

from playground.parameters import Strict
from playground.web.message import ClientMessage, RunId

ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Of a room's code: no letter or digit that looks like another one."""

CODE_CHARACTERS = 5
Code = Annotated[str, Field(pattern=f"^[{ALPHABET}]{{{CODE_CHARACTERS}}}$")]

LARGEST_CANVAS = 65536
MOST_PICKS = 8
"""Positions that one student may name in one question."""

Seq = Annotated[int, Field(ge=-1, le=2**53)]
Lane = Literal["diffusion", "autoregressive"]


class Chosen(Strict):
    """The position that is inspected."""

    canvas: Annotated[int, Field(ge=-1, le=LARGEST_CANVAS)]
    """−1: the one that is being looked at."""
    position: Annotated[int, Field(ge=0, le=LARGEST_CANVAS)]


class Show(Strict):
    """What the teacher sees, which is what everybody who follows sees."""

    mode: Literal["diffusion", "autoregressive", "side_by_side"] = "diffusion"
    runs: Annotated[dict[Lane, RunId], Field(max_length=2)] = Field(default_factory=dict)
    """The run in each lane."""
    at: Annotated[dict[Lane, Seq], Field(max_length=2)] = Field(default_factory=dict)
    """`seq` of the event looked at in each lane; −1 before the first."""
    playing: bool = False
    chosen: Chosen | None = None
    noise: bool = False
    """Whether random tokens are shown in place of drafts."""


class Chapter(Strict):
    """Where the room is in a lesson."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,64}$")]
    part: Annotated[int, Field(ge=0, le=99)] = 0


class Lead(ClientMessage):
    """The teacher shows something else; what is left out stays as it is."""

    type: Literal["lead"]
    show: Show | None = None
    lesson: Chapter | Literal["none"] | None = None
    """`none` puts the lesson away."""
    starts: bool | None = None
    """Whether students may start runs of their own."""


class Ask(ClientMessage):
    """The teacher asks which positions of a canvas will be accepted in the step after an event."""

    type: Literal["ask"]
    run: RunId
    seq: Annotated[int, Field(ge=0, le=2**53)]
    positions: Annotated[int, Field(ge=1, le=LARGEST_CANVAS)]
    """How many the canvas has."""


class Tally(ClientMessage):
    """The teacher shows what was answered, and nobody answers any more; or puts the question away."""

    type: Literal["tally"]
    shown: bool = True


class Answer(ClientMessage):
    """A student's answer to the question that is open; a later one takes its place."""

    type: Literal["answer"]
    question: Annotated[int, Field(ge=1)]
    positions: Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=MOST_PICKS)]


class CloseRoom(ClientMessage):
    """The teacher ends the room."""

    type: Literal["close"]


class Leave(ClientMessage):
    """Out of the room."""

    type: Literal["leave"]


InRoom = Lead | Ask | Tally | Answer | CloseRoom | Leave


class Question(Strict):
    """A question as one person sees it."""

    id: int
    run: str
    seq: int
    open: bool
    """Whether answers are still taken."""
    answers: int
    """How many students have answered."""
    tally: dict[int, int] | None
    """How many of them named a position. Students see it once the question is no longer open."""
    yours: list[int] | None
    """What this student answered, if anything."""


class RoomState(Strict):
    """How a room stands, as one socket sees it. After a change the whole of it is sent, and only the newest."""

    type: Literal["room"] = "room"
    room: Code
    open: bool = True
    """Whether there is a room any more."""
    role: Literal["teacher", "student"]
    link: str
    """The students' address."""
    students: int
    teacher: bool
    """Whether the teacher is here."""
    leads: bool
    """Whether it was this socket that last changed what is shown: a teacher's second device follows the first."""
    starts: bool
    lesson: Chapter | None
    show: Show
    question: Question | None
    ref: str | int | None = None
