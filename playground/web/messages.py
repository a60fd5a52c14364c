"""What a client may say on the socket, one model a message; strict, as the recipe is."""

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from playground.errors import PlaygroundError
from playground.parameters import DecodingChange, Finite, SamplerChange
from playground.recipe import MAX_SEED, Edit, Message, Recipe
from playground.web import mistakes
from playground.web.message import ClientMessage as _Message
from playground.web.message import RunId, Secret
from playground.web.roomtalk import Code, InRoom

MOST_EDITS = 1000
"""In a start; a run that goes on may gather more."""

MOST_FIELDS = 32
"""The most fields that any object in a message may have; a recipe has nine."""

MOST_MISTAKES = 20
"""Beyond these, only the first one is looked at."""

DEEPEST = 32
"""The most levels of nesting that a message may have; a recipe has five."""

StepsPerSecond = Annotated[Finite, Field(ge=0.05, le=1000)]


class Start(_Message):
    """Begin a run and watch it."""

    type: Literal["start"]
    recipe: Recipe
    steps_per_second: StepsPerSecond | None = None
    """The pace; none for as fast as the device goes."""
    owner: Secret | None = None
    """A secret that a browser keeps, to find its stored runs again; of it only a hash is stored."""


class Acknowledge(_Message):
    """The event with this number has arrived and been dealt with."""

    type: Literal["ack"]
    run: RunId
    seq: Annotated[int, Field(ge=0)]


class Join(_Message):
    """Watch a run, from the event behind `after`; or come into a room."""

    type: Literal["join"]
    run: RunId | None = None
    after: Annotated[int, Field(ge=-1)] = -1
    room: Code | None = None
    token: Annotated[str, Field(max_length=256)] | None = None
    """The teacher's; whoever has it leads the room."""
    student: Secret | None = None
    """A secret of the browser's own, so that who comes back is not counted twice."""

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.run is None) == (self.room is None):
            raise ValueError("join takes either a run or a room")
        if self.room is None and (self.token is not None or self.student is not None):
            raise ValueError("token and student go with a room")
        return self


class _Steering(_Message):
    run: RunId
    control: Annotated[str, Field(max_length=256)] | None = None
    """The token that the starter got; needed on any other socket."""


class Update(_Steering):
    """Change parameters from the next step on."""

    type: Literal["update"]
    sampler: SamplerChange | None = None
    decoding: DecodingChange | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.sampler is None) == (self.decoding is None):
            raise ValueError("an update needs either sampler (diffusion) or decoding (autoregressive), and only one")
        return self


class Pause(_Steering):
    """Halt between two steps."""

    type: Literal["pause"]


class Resume(_Steering):
    """Go on after a pause."""

    type: Literal["resume"]


class Cancel(_Steering):
    """End the run before its next step."""

    type: Literal["cancel"]


class Pace(_Steering):
    """Take at most so many steps a second from now on; null for as fast as the device goes."""

    type: Literal["pace"]
    steps_per_second: StepsPerSecond | None


class Switch(_Message):
    """Change the model of the server for another of its choices."""

    type: Literal["switch"]
    model: Annotated[str, Field(min_length=1, max_length=256)]


Steered = Update | Pause | Resume | Cancel | Pace
ClientMessage = Start | Acknowledge | Join | Steered | Switch | InRoom

_adapter: TypeAdapter[ClientMessage] = TypeAdapter(Annotated[ClientMessage, Field(discriminator="type")])
_schema = _adapter.json_schema()
_said: TypeAdapter[Message] = TypeAdapter(Message)
_edit: TypeAdapter[Edit] = TypeAdapter(Edit)
_id: TypeAdapter[int] = TypeAdapter(Annotated[int, Field(strict=True, ge=0)])


class Refused(PlaygroundError):
    """A message that cannot be understood, with the `ref` to answer to."""

    def __init__(self, message: str, field: str | None, ref: str | int | None) -> None:
        super().__init__("bad_request", message, field)
        self.ref = ref


class _Twice(dict[str, Any]):
    """An object in which a key stood twice."""

    name = ""


def parse(text: str) -> ClientMessage:
    """The message in a text frame. Raises `Refused`, which names the field at fault and says what is allowed."""
    try:
        data = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        message = f"The frame is not valid JSON: {error.msg} at character {error.pos}."
        raise Refused(message, None, None) from None
    except (ValueError, RecursionError):
        raise Refused("The frame is not JSON that can be read: too deep, or a number too long.", None, None) from None
    ref = _ref(data)
    for path, reason in _unreadable(data):
        field = mistakes.dotted(path) or None
        raise Refused(f"{field or 'The message'} {reason}", field, ref)
    try:
        return _adapter.validate_json(text)
    except ValidationError as error:
        count = error.error_count()
        if count > MOST_MISTAKES:  # an account of all of them takes long
            data, error = _first_mistakes(data, error)
        field_at_fault, message = mistakes.explain(error, data, _schema, count=count)
        raise Refused(message, field_at_fault, ref) from None


def too_large(text: str, size: int, most: int) -> Refused:
    """What is said of a frame with more bytes than one may have."""
    sentence = f"A frame may have at most {most} bytes, and this one has {size}."
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return Refused(sentence, None, None)
    recipe = data.get("recipe") if isinstance(data, dict) else None
    said = recipe.get("messages") if isinstance(recipe, dict) else None
    for index, message in enumerate(said if isinstance(said, list) else ()):
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str) and len(content.encode(errors="replace")) > most // 2:
            field = f"recipe.messages.{index}.content"
            return Refused(f"{field} is too long: {sentence[0].lower()}{sentence[1:]}", field, _ref(data))
    return Refused(sentence, None, _ref(data))


def _first_mistakes(data: Any, error: ValidationError) -> tuple[Any, ValidationError]:
    """The message and its mistakes, its long lists cut off behind their first wrong entry."""
    recipe = data.get("recipe")
    if not isinstance(recipe, dict):
        return data, error
    cut = dict(recipe)
    for name, adapter in (("messages", _said), ("edits", _edit)):
        if isinstance(entries := recipe.get(name), list):
            cut[name] = _until_wrong(entries, adapter)
    data = data | {"recipe": cut}
    try:
        _adapter.validate_json(json.dumps(data))
    except ValidationError as fewer:
        return data, fewer
    return data, error


def _until_wrong(entries: list[Any], adapter: TypeAdapter[Any]) -> list[Any]:
    for index, entry in enumerate(entries):
        try:
            adapter.validate_python(entry)
        except ValidationError:
            if isinstance(entry, dict) and isinstance(ids := entry.get("ids"), list):
                entry = entry | {"ids": _until_wrong(ids, _id)}
            return [*entries[:index], entry]
    return entries


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) == len(pairs):
        return result
    twice = _Twice(result)
    seen: set[str] = set()
    for twice.name, _ in pairs:
        if twice.name in seen:
            break
        seen.add(twice.name)
    return twice


def _unreadable(data: object) -> Iterator[tuple[mistakes.Path, str]]:
    """Paths to what JSON readers take in different ways, or not at all. (Without recursion: data may be deep.)"""
    rest: list[tuple[mistakes.Path, object]] = [((), data)]
    while rest:
        path, value = rest.pop()
        if len(path) > DEEPEST:
            yield path[:1], f"is nested more than {DEEPEST} levels deep."
        if isinstance(value, _Twice):
            yield (*path, value.name), "stands twice in one object; it may stand once."
        if isinstance(value, str) and not _encodes(value):
            yield path, "has half of a surrogate pair, which no text can hold."
        if isinstance(value, dict):
            if len(value) > MOST_FIELDS:
                yield path, f"has {len(value)} fields; no object here has more than {MOST_FIELDS}."
            rest.extend(((*path, key), below) for key, below in value.items())
        elif isinstance(value, list):
            if path == ("recipe", "edits") and len(value) > MOST_EDITS:
                yield path, f"has {len(value)} entries; a run may start with at most {MOST_EDITS} edits."
            rest.extend(((*path, index), below) for index, below in enumerate(value))


def _ref(data: object) -> str | int | None:
    ref = data.get("ref") if isinstance(data, dict) else None
    fits = (isinstance(ref, str) and len(ref) <= 256 and _encodes(ref)) or (type(ref) is int and abs(ref) <= MAX_SEED)
    return ref if fits else None


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
