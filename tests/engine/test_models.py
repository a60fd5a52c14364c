from pathlib import Path

import pytest

from playground.engine import models
from playground.engine.models import EMBEDDED_FOLDER, Model, weights_hash
from playground.errors import ModelError
from playground.settings import Settings


def test_the_embedded_model_is_an_ordinary_checkpoint_folder(embedded: Model) -> None:
    other = models.load(Settings(model=str(EMBEDDED_FOLDER), device="cpu"))
    assert (other.revision, other.end_ids, other.name) == (embedded.revision, embedded.end_ids, "checkpoint")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"device": "cuda:0"}, "no CUDA device"),
        ({"device": "abacus"}, "PLAYGROUND_DEVICE"),
        ({"model": "/nowhere/at/all"}, "could not be loaded"),
    ],
)
def test_what_cannot_be_loaded_gets_a_sentence(
    fields: dict[str, str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ModelError, match=says):
        models.load(Settings(device="cpu").model_copy(update=fields))


def test_an_empty_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="could not be loaded"):
        models.load(Settings(model=str(tmp_path), device="cpu"))


def test_broken_weights_get_a_sentence(tmp_path: Path) -> None:
    for file in EMBEDDED_FOLDER.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes()[: 5000 if file.suffix == ".safetensors" else None])
    with pytest.raises(ModelError, match="could not be loaded"):
        models.load(Settings(model=str(tmp_path), device="cpu"))


def test_the_revision_follows_the_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(bytes(1000))
    first = weights_hash(tmp_path)
    file.write_bytes(bytes(999) + b"x")
    assert weights_hash(tmp_path) != first
    monkeypatch.setattr(models, "HASH_WHOLE_BELOW", 10)
    sampled = weights_hash(tmp_path)
    file.write_bytes(b"y" + bytes(999))
    assert weights_hash(tmp_path) != sampled


def test_pieces_come_by_id(embedded: Model) -> None:
    (four,), (seven,) = embedded.encode_text("4"), embedded.encode_text("7")
    assert embedded.pieces([four, seven], [seven]) == {four: "4", seven: "7"}
