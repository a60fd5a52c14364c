"""What people upload: pictures and text files are taken, anything else gets a sentence."""

import io
from collections.abc import Callable

import pytest
from PIL import Image

from playground.errors import PlaygroundError
from playground.uploads import Uploads


def encoded(kind: str, size: tuple[int, int] = (30, 20), mode: str = "RGB", **options: object) -> bytes:
    file = io.BytesIO()
    Image.new(mode, size, 77).save(file, kind, **options)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP"])
def test_a_picture_of_any_usual_kind_is_taken(kind: str) -> None:
    uploads = Uploads()
    upload = uploads.put(encoded(kind, mode="P" if kind == "GIF" else "RGB"))
    assert (upload.kind, upload.width, upload.height) == ("image", 30, 20)
    assert upload.picture().mode == "RGB"
    assert upload.thumbnail is not None
    assert len(upload.thumbnail) < 4000
    assert uploads.get(upload.sha256, "image") is upload


def test_a_photograph_that_lies_on_its_side_stands_up() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    upload = Uploads().put(encoded("JPEG", (30, 20), exif=exif))
    assert (upload.width, upload.height) == upload.picture().size == (20, 30)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (lambda: b"", "it is empty"),
        (lambda: b" \n", "there is no text in it"),
        (lambda: b"\x00\x01\x02", "neither a picture (PNG, JPEG, WebP, GIF, BMP) nor a text file"),
        (lambda: b"\xff\xfe\xfd\xfc words", "neither a picture"),
        (lambda: encoded("TIFF"), "neither a picture"),
        (lambda: encoded("PNG", (300, 200))[:200], "cannot be read"),
        (lambda: encoded("PNG", (4000, 10)), "too narrow"),
        (lambda: encoded("PNG", (1100, 1000)), "has 1,100,000 pixels, and at most 1,000,000 are allowed"),
        (lambda: encoded("BMP", (700, 500)), "has 1,050,054 bytes, and at most 1,000,000 are allowed"),
    ],
)
def test_anything_else_gets_a_sentence(data: Callable[[], bytes], says: str) -> None:
    uploads = Uploads(largest=1_000_000, most_pixels=1_000_000)
    with pytest.raises(PlaygroundError) as raised:
        uploads.put(data())
    assert (raised.value.code, raised.value.field) == ("bad_upload", "upload")
    assert says in raised.value.message


def test_a_text_file_is_read_without_its_byte_order_mark() -> None:
    upload = Uploads().put("\ufeffgrün\n".encode())
    assert (upload.kind, upload.text, upload.characters) == ("file", "grün\n", 5)


def test_the_longest_unused_are_forgotten() -> None:
    uploads = Uploads(most_bytes=2500)
    first, second = uploads.put(b"a" * 1000), uploads.put(b"b" * 1000)
    assert uploads.find(first.sha256) is first
    uploads.put(b"c" * 1000)
    assert uploads.find(first.sha256) is first
    with pytest.raises(PlaygroundError, match="upload it again"):
        uploads.find(second.sha256)
