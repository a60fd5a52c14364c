"""Pictures for the vision tower: what the checkpoint's own image processor makes of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor
from transformers.models.gemma4.image_processing_pil_gemma4 import Gemma4ImageProcessorPil

from playground.errors import PlaygroundError
from playground.events import Picture
from playground.uploads import Upload, Uploads

PROCESSOR_FILES = ("preprocessor_config.json", "processor_config.json")


@dataclass(frozen=True)
class Pixels:
    """A picture as the vision tower takes it, padded to the most patches that one may have."""

    sha256: str
    values: Tensor
    """(1, patches, 3·p·p) float32, from 0 to 1"""
    positions: Tensor
    """(1, patches, 2) int64: x and y of each patch, −1 for padding"""
    soft_tokens: int
    """Positions that the picture takes in the prompt."""


def processor(folder: Path) -> Gemma4ImageProcessorPil | None:
    """The checkpoint's image processor; none where it has none, as a model for text only."""
    if not any((folder / name).is_file() for name in PROCESSOR_FILES):
        return None
    return Gemma4ImageProcessorPil.from_pretrained(folder, local_files_only=True)


def thumbnails(shown: Sequence[Pixels], uploads: Uploads) -> list[Picture]:
    """What a run says of its pictures."""
    found = []
    for pixels in shown:
        upload = uploads.get(pixels.sha256, "image")
        assert upload.width is not None
        assert upload.height is not None
        assert upload.thumbnail is not None
        found.append(
            Picture(
                sha256=upload.sha256,
                width=upload.width,
                height=upload.height,
                tokens=pixels.soft_tokens,
                thumbnail=upload.thumbnail,
            )
        )
    return found


def pixels(processor: Any, upload: Upload) -> Pixels:
    """Resize, cut into patches, scale. Raises `PlaygroundError` for a picture that cannot be resized to fit."""
    try:
        made = processor(upload.picture(), return_tensors="pt")
    except ValueError as error:
        message = f"The picture {upload.sha256[:8]}… cannot be used: {str(error).splitlines()[0]}"
        raise PlaygroundError("bad_upload", message, "recipe.messages") from None
    return Pixels(
        sha256=upload.sha256,
        values=made["pixel_values"],
        positions=made["image_position_ids"],
        soft_tokens=int(made["num_soft_tokens_per_image"][0]),
    )
