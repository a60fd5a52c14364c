"""One socket's place in a room: what it may say there, and what it still has to be told."""

from collections.abc import Callable

from playground.errors import PlaygroundError
from playground.web.messages import Join
from playground.web.rooms import Room
from playground.web.roomtalk import Answer, Ask, CloseRoom, InRoom, Lead, Leave, Tally
from playground.web.site import Site


class Seat:
    """Empty until the socket joins a room. `take` gives the newest state of the room, each at most once."""

    def __init__(self, site: Site, address: str, socket: str, wake: Callable[[], None]) -> None:
        self._site = site
        self._address = address
        self._socket = socket
        self._wake = wake
        self._room: Room | None = None
        self._student: str | None = None
        """Who sits here; none for the teacher."""
        self._told = -1
        self._ref: str | int | None = None

    def join(self, message: Join) -> None:
        """Take a seat, as the teacher if the token says so; out of any other room. Raises `PlaygroundError`."""
        assert message.room is not None
        try:
            room = self._site.rooms.get(message.room)
        except PlaygroundError:
            self._site.limits.wrong_code(self._address)
            raise
        if message.token is not None:
            self._site.rooms.check_teacher(room, message.token)
        student = None if message.token is not None else message.student or self._socket
        self.leave()
        self._site.rooms.enter(room, student, self._wake)
        self._room, self._student, self._told, self._ref = room, student, -1, message.ref
        self._wake()

    def leave(self) -> None:
        """Get up; without a seat nothing happens."""
        if (room := self._room) is not None:
            self._room = None
            self._site.rooms.leave(room, self._student, self._wake)

    def obey(self, message: InRoom) -> None:
        """Do what is said in the room. Raises `PlaygroundError`: no room, or only its teacher may."""
        if (room := self._room) is None:
            if isinstance(message, Leave):
                return
            raise PlaygroundError("bad_request", "This socket is in no room; join one first.", "type")
        if self._student is not None and not isinstance(message, Answer | Leave):
            raise PlaygroundError("forbidden", "Only the teacher of the room may do that.", "type")
        match message:
            case Leave():
                self.leave()
            case Answer():
                if self._student is None:
                    raise PlaygroundError("forbidden", "The teacher asks; students answer.", "type")
                room.answer(self._student, message.question, message.positions)
            case Lead():
                room.lead(message, self._wake)
            case Ask():
                room.ask(message)
            case Tally():
                room.tally(message.shown)
            case CloseRoom():
                self._site.rooms.close(room)

    def check_start(self) -> None:
        """Raise `PlaygroundError` (`forbidden`) where the teacher has switched off runs of the students' own."""
        if self._room is not None and self._student is not None and not self._room.starts:
            message = "The teacher has switched off runs of your own in this room."
            raise PlaygroundError("forbidden", message)

    def check_switch(self) -> None:
        """Raise `PlaygroundError` (`forbidden`) for a student: the model is the whole room's."""
        if self._room is not None and self._student is not None:
            raise PlaygroundError("forbidden", "In a room only its teacher switches the model.", "type")

    def take(self) -> str | None:
        """The state of the room as JSON, if this socket has not been told it yet."""
        room = self._room
        if room is None or room.version == self._told:
            return None
        self._told = room.version
        state = room.seen_by(self._student, self._wake).model_copy(update={"ref": self._ref})
        self._ref = None
        if not room.open:
            self.leave()
        return state.model_dump_json(exclude={"ref"} if state.ref is None else None)
