"""The rooms of the process: a teacher leads, students follow, and whoever comes late sees the same."""

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable

import structlog
from itsdangerous import BadData, URLSafeSerializer

from playground.errors import PlaygroundError
from playground.settings import Settings
from playground.web.roomtalk import ALPHABET, CODE_CHARACTERS, Ask, Chapter, Lead, Question, RoomState, Show

log = structlog.get_logger()


class _Asked:
    """A question and its answers, by student."""

    def __init__(self, number: int, ask: Ask) -> None:
        self.number = number
        self.ask = ask
        self.open = True
        self.answers: dict[str, list[int]] = {}

    def tally(self) -> dict[int, int]:
        counted = Counter(position for positions in self.answers.values() for position in positions)
        return dict(sorted(counted.items()))


class Room:
    """What everybody in one room sees. Belongs to one event loop; listeners are called after each change."""

    def __init__(self, code: str, link: str, most_students: int) -> None:
        self.code = code
        self.id = secrets.token_urlsafe(16)
        """Tells this room from an earlier one with the same code."""
        self.link = link
        self.open = True
        self.version = 0
        self.show = Show()
        self.lesson: Chapter | None = None
        self.starts = True
        self.question: _Asked | None = None
        self.deadline: asyncio.TimerHandle | None = None
        """When the room ends unless somebody comes."""
        self._asked = 0
        self._most_students = most_students
        self._teachers = 0
        self._students: Counter[str] = Counter()
        self._listeners: set[Callable[[], None]] = set()
        self._leader: Callable[[], None] | None = None
        """Who changed last what is shown: a teacher may lead from two devices."""

    @property
    def empty(self) -> bool:
        """Whether nobody is here."""
        return not self._teachers and not self._students

    def enter(self, student: str | None, listener: Callable[[], None]) -> None:
        """A teacher (none) or a student comes in. Raises `PlaygroundError` (`busy`) for a student too many."""
        if student is None:
            self._teachers += 1
        else:
            if student not in self._students and len(self._students) >= self._most_students:
                raise PlaygroundError("busy", f"The room already has {self._most_students} students, its most.", "room")
            self._students[student] += 1
        self._listeners.add(listener)
        self._changed()

    def leave(self, student: str | None, listener: Callable[[], None]) -> None:
        """Somebody goes; what a student answered stays."""
        self._listeners.discard(listener)
        if student is None:
            self._teachers -= 1
        else:
            self._students -= Counter({student: 1})
        self._changed()

    def lead(self, change: Lead, listener: Callable[[], None]) -> None:
        """The teacher shows something else."""
        if change.show is not None:
            self.show = change.show
            self._leader = listener
        if change.lesson is not None:
            self.lesson = None if change.lesson == "none" else change.lesson
        if change.starts is not None:
            self.starts = change.starts
        self._changed()

    def ask(self, ask: Ask) -> None:
        """Open a question; an earlier one is put away."""
        self._asked += 1
        self.question = _Asked(self._asked, ask)
        self._changed()

    def tally(self, shown: bool) -> None:
        """Show what was answered, or put the question away. Raises `PlaygroundError` where nothing was asked."""
        if self.question is None:
            raise PlaygroundError("bad_request", "Nothing has been asked in this room.", "type")
        self.question.open = False
        if not shown:
            self.question = None
        self._changed()

    def answer(self, student: str, number: int, positions: list[int]) -> None:
        """Take a student's answer. Raises `PlaygroundError`."""
        asked = self.question
        if asked is None or asked.number != number or not asked.open:
            raise PlaygroundError("finished", "That question is no longer open.", "question")
        for index, position in enumerate(positions):
            if position >= asked.ask.positions:
                sentence = f"must be below {asked.ask.positions}, the length of the canvas, not {position}."
                raise PlaygroundError("bad_request", f"positions.{index} {sentence}", f"positions.{index}")
        asked.answers[student] = sorted(set(positions))
        if not positions:
            del asked.answers[student]
        self._changed()

    def close(self) -> None:
        """The room ends."""
        self.open = False
        self._changed()

    def seen_by(self, student: str | None, listener: Callable[[], None] | None = None) -> RoomState:
        """How the room stands for a student, or for its teacher (none), and for the one who listens there."""
        return RoomState(
            room=self.code,
            open=self.open,
            role="teacher" if student is None else "student",
            link=self.link,
            students=len(self._students),
            teacher=self._teachers > 0,
            leads=student is None and listener is not None and self._leader == listener,
            starts=self.starts,
            lesson=self.lesson,
            show=self.show,
            question=self._question(student),
        )

    def _question(self, student: str | None) -> Question | None:
        if (asked := self.question) is None:
            return None
        return Question(
            id=asked.number,
            run=asked.ask.run,
            seq=asked.ask.seq,
            open=asked.open,
            answers=len(asked.answers),
            tally=asked.tally() if student is None or not asked.open else None,
            yours=None if student is None else asked.answers.get(student),
        )

    def _changed(self) -> None:
        self.version += 1
        for listener in tuple(self._listeners):
            listener()


class Rooms:
    """Finds rooms by their code, tells teachers by their token, and ends rooms that nobody is in."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._rooms: dict[str, Room] = {}
        self._signer = URLSafeSerializer(secrets.token_bytes(32), salt="teacher of a room")

    def __len__(self) -> int:
        return len(self._rooms)

    def open(self, link: Callable[[str], str]) -> tuple[Room, str]:
        """A new room, and its teacher's token. link: gives the students' address by the room's code.

        Raises `PlaygroundError` (`busy`).
        """
        if len(self._rooms) >= self._settings.max_rooms:
            many = f"The server already has {self._settings.max_rooms} rooms, its most."
            none = "No rooms can be opened on this server."
            raise PlaygroundError("busy", many if self._settings.max_rooms else none)
        code = self._unused()
        room = self._rooms[code] = Room(code, link(code), self._settings.max_students)
        self._expect(room)
        log.info("room opened", rooms=len(self._rooms))
        return room, str(self._signer.dumps([code, room.id]))

    def get(self, code: str) -> Room:
        """The room with this code. Raises `PlaygroundError` (`unknown_room`)."""
        if (room := self._rooms.get(code)) is None:
            message = "There is no room with this code; a room ends some time after the last one has left it."
            raise PlaygroundError("unknown_room", message, "room")
        return room

    def check_teacher(self, room: Room, token: str) -> None:
        """Raise `PlaygroundError` (`forbidden`) unless the token is that of the room's teacher."""
        try:
            signed = self._signer.loads(token)
        except BadData:
            signed = None
        if signed != [room.code, room.id]:
            raise PlaygroundError("forbidden", "This is not the token of the room's teacher.", "token")

    def enter(self, room: Room, student: str | None, listener: Callable[[], None]) -> None:
        """As the room's own, and the room stays as long as somebody is in it."""
        room.enter(student, listener)
        if room.deadline is not None:
            room.deadline.cancel()
            room.deadline = None

    def leave(self, room: Room, student: str | None, listener: Callable[[], None]) -> None:
        """As the room's own; after the last one the room has some time left."""
        room.leave(student, listener)
        if room.empty and room.open:
            self._expect(room)

    def close(self, room: Room) -> None:
        """End a room."""
        if room.deadline is not None:
            room.deadline.cancel()
        self._rooms.pop(room.code, None)
        room.close()
        log.info("room closed", rooms=len(self._rooms))

    def _expect(self, room: Room) -> None:
        room.deadline = asyncio.get_running_loop().call_later(self._settings.room_seconds, self.close, room)

    def _unused(self) -> str:
        while True:
            code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_CHARACTERS))
            if code not in self._rooms:
                return code
