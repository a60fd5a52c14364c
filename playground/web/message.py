"""What every message of a client has, and the ids that messages name."""

from typing import Annotated

from pydantic import Field

from playground.parameters import Strict
from playground.recipe import MAX_SEED

RunId = Annotated[str, Field(min_length=1, max_length=64)]
Ref = Annotated[str, Field(max_length=256)] | Annotated[int, Field(ge=-MAX_SEED, le=MAX_SEED)]

OWNER_CHARACTERS = range(22, 129)
"""A secret that a browser makes up has at least 128 bits, however they are spelled."""

Secret = Annotated[str, Field(min_length=OWNER_CHARACTERS.start, max_length=OWNER_CHARACTERS.stop - 1)]


class ClientMessage(Strict):
    """The base of all that a client may say."""

    ref: Ref | None = None
    """The client's own mark, echoed in what answers this message."""
