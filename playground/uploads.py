"""What people upload to put into a prompt: pictures and text files, by the SHA-256 of their bytes.

Kept in memory, the last used ones up to so many bytes. A recipe names an upload by its hash, so the same recipe means
the same picture anywhere.
"""

import base64
import hashlib
import io
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from playground.errors import PlaygroundError

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")
THUMBNAIL = 96
"""The longest side of a thumbnail, in pixels."""
NARROWEST = 200
"""How many times as long as wide a picture may be."""


@dataclass(frozen=True)
class Upload:
    """A picture or a text file that has been looked at."""

    sha256: str
    kind: str
    """`image` or `file`."""
    data: bytes
    size: int
    """Memory it takes."""
    width: int | None = None
    height: int | None = None
    thumbnail: str | None = None
    """A small picture as a `data:` URL."""
    characters: int | None = None

    @property
    def text(self) -> str:
        """What a text file says."""
        return self.data.decode("utf-8-sig")

    def picture(self) -> "Image":
        """The picture, upright, in RGB."""
        from PIL import Image, ImageOps

        with Image.open(io.BytesIO(self.data), formats=FORMATS) as picture:
            return ImageOps.exif_transpose(picture).convert("RGB")


class Named(Protocol):
    """What names an upload in a recipe."""

    @property
    def type(self) -> str:
        """`image` or `file`."""
        ...

    @property
    def sha256(self) -> str:
        """Of its bytes, in hexadecimal digits."""
        ...


def in_words(named: Iterable[Named]) -> str:
    """Uploads by kind and whole hash, each once: `a picture (SHA-256 9f86…)`, as `sha256sum` prints it."""
    each = {part.sha256: "a picture" if part.type == "image" else "a text file" for part in named}
    return ", ".join(f"{kind} (SHA-256 {sha256})" for sha256, kind in each.items())


class Uploads:
    """The uploads of a process; may be used from several threads."""

    def __init__(self, most_bytes: int = 256 << 20, largest: int = 20 << 20, most_pixels: int = 50_000_000) -> None:
        self._most_bytes = most_bytes
        self._largest = largest
        self._most_pixels = most_pixels
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Upload] = OrderedDict()

    @property
    def largest(self) -> int:
        """The most bytes of an upload."""
        return self._largest

    def put(self, data: bytes) -> Upload:
        """Take in a picture or a text file.

        Raises `PlaygroundError` (`bad_upload`) in a sentence for anything else, for one that is too large, and for a
        picture with too many pixels.
        """
        if len(data) > self._largest:
            raise _bad(f"it has {len(data):,} bytes, and at most {self._largest:,} are allowed")
        if not data:
            raise _bad("it is empty")
        upload = self._looked_at(data)
        with self._lock:
            self._kept[upload.sha256] = upload
            self._kept.move_to_end(upload.sha256)
            while sum(kept.size for kept in self._kept.values()) > self._most_bytes and len(self._kept) > 1:
                self._kept.popitem(last=False)
        return upload

    def get(self, sha256: str, kind: str) -> Upload:
        """The upload with this hash. Raises `PlaygroundError` (`unknown_upload`) where there is none of this kind."""
        upload = self.find(sha256)
        if upload.kind != kind:
            wanted = "a picture" if kind == "image" else "a text file"
            raise PlaygroundError("bad_request", f"The upload {sha256[:8]}… is not {wanted}.", "recipe.messages")
        return upload

    def find(self, sha256: str) -> Upload:
        """The upload with this hash. Raises `PlaygroundError` (`unknown_upload`)."""
        with self._lock:
            upload = self._kept.get(sha256)
            if upload is not None:
                self._kept.move_to_end(sha256)
        if upload is None:
            message = f"The upload {sha256[:8]}… is not here; uploads are forgotten after a while: upload it again."
            raise PlaygroundError("unknown_upload", message, "recipe.messages")
        return upload

    def lacking(self, named: Iterable[Named]) -> list[Named]:
        """Those of a recipe's uploads that are not here."""
        with self._lock:
            return [part for part in named if part.sha256 not in self._kept]

    def _looked_at(self, data: bytes) -> Upload:
        sha256 = hashlib.sha256(data).hexdigest()
        size = self._picture_size(data)
        if size is None:
            return _text_file(sha256, data)
        upload = Upload(sha256, "image", data, len(data), *size)
        try:
            picture = upload.picture()
        except (OSError, ValueError, SyntaxError) as error:
            raise _bad(f"it begins like a picture, but cannot be read: {error}") from None
        size = picture.size  # upright
        picture.thumbnail((THUMBNAIL, THUMBNAIL))
        small = io.BytesIO()
        picture.save(small, "JPEG", quality=80)
        thumbnail = "data:image/jpeg;base64," + base64.b64encode(small.getvalue()).decode()
        return Upload(sha256, "image", data, len(data), *size, thumbnail=thumbnail)

    def _picture_size(self, data: bytes) -> tuple[int, int] | None:
        """Width and height by the picture's head, nothing decoded; none for what is no picture."""
        from PIL import Image, UnidentifiedImageError

        most = f"at most {self._most_pixels:,} are allowed"
        try:
            with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
                width, height = picture.size
        except UnidentifiedImageError:
            return None
        except Image.DecompressionBombError:
            raise _bad(f"the picture has far too many pixels; {most}") from None
        except (OSError, ValueError, SyntaxError) as error:
            raise _bad(f"it begins like a picture, but cannot be read: {error}") from None
        if width * height > self._most_pixels:
            raise _bad(f"the picture has {width * height:,} pixels, and {most}")
        if max(width, height) > NARROWEST * min(width, height):
            raise _bad(f"the picture is {width} × {height}, too narrow: at most {NARROWEST} times as long as wide")
        return width, height


def _text_file(sha256: str, data: bytes) -> Upload:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise _bad("it is neither a picture (PNG, JPEG, WebP, GIF, BMP) nor a text file in UTF-8")
    if not text.strip():
        raise _bad("there is no text in it")
    return Upload(sha256, "file", data, len(data), characters=len(text))


def _bad(reason: str) -> PlaygroundError:
    return PlaygroundError("bad_upload", f"This cannot be used: {reason}.", "upload")
