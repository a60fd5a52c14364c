import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from huggingface_hub import errors as hub
from safetensors.torch import load_file, save_file
from transformers import DiffusionGemmaForBlockDiffusion

from playground.engine import memory, models, placement, sources
from playground.engine.models import EMBEDDED_FOLDER, Model
from playground.engine.sources import weights_hash
from playground.errors import ModelError
from playground.settings import Settings


def copied(folder: Path, **changes: Any) -> Path:
    """The embedded checkpoint in another folder, with changes of its config."""
    for file in EMBEDDED_FOLDER.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    config = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def refusal(**fields: Any) -> ModelError:
    with pytest.raises(ModelError) as raised:
        models.load(Settings(device="cpu").model_copy(update=fields))
    assert "\n" not in raised.value.message
    return raised.value


def test_the_embedded_model_is_an_ordinary_checkpoint_folder(embedded: Model) -> None:
    told: list[str] = []
    other = models.load(Settings(model=str(EMBEDDED_FOLDER), device="cpu"), told.append)
    assert (other.revision, other.end_ids, other.name) == (embedded.revision, embedded.end_ids, "checkpoint")
    assert len(told) == 1
    assert f"its weights take {embedded.parameters * 4 / 1e6:.1f} MB, and " in told[0]
    assert told[0].endswith("GB are free on cpu.")


@pytest.mark.parametrize(
    ("fields", "field", "says"),
    [
        ({"device": "cuda:0"}, "device", "no CUDA device"),
        ({"device": "abacus"}, "device", "PLAYGROUND_DEVICE"),
        ({"device": "mps"}, "device", "no such device"),
        ({"model": "/nowhere/at/all"}, "model", "there is no such folder"),
        ({"model": "nowhere"}, "model", "there is no such folder"),
        ({"quantize": "4bit"}, "quantize", "takes a CUDA device"),
        ({"device_map": "auto"}, "device_map", "there are none here"),
    ],
)
def test_what_cannot_be_loaded_gets_a_sentence(
    fields: dict[str, str], field: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    error = refusal(**fields)
    assert error.field == field
    assert says in error.message


def test_quantization_without_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "device", lambda _: torch.device("cuda"))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ModelError, match=r"bitsandbytes: `pip install 'denoising-playground\[quantize\]'`"):
        placement.check(Settings(quantize="8bit"))


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (hub.GatedRepoError, "its terms have to be accepted first, on https://huggingface.co/google/large"),
        (hub.RepositoryNotFoundError, "the hub knows no such model"),
        (hub.LocalEntryNotFoundError, "the hub cannot be reached, and the model has not been fetched before"),
        (hub.OfflineModeIsEnabled, "`hf download google/large`"),
        (hub.HFValidationError, "this is no hub id"),
        (OSError, "fetching it failed: so it is"),
    ],
)
def test_what_the_hub_says_in_plain_words(fault: type[Exception], says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(*_: object, **__: object) -> str:
        if issubclass(fault, hub.HfHubHTTPError):
            raise fault("so it is", response=httpx.Response(403, request=httpx.Request("GET", "https://hub")))
        raise fault("so it is")

    monkeypatch.setattr(sources, "snapshot_download", download)
    error = refusal(model="google/large")
    assert says in error.message
    assert error.message.startswith("The model 'google/large' could not be loaded: ")
    assert error.field == "model"


def test_a_hub_id_is_its_name_and_the_commit_its_revision(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commit = tmp_path / "0123456789abcdef"
    commit.mkdir()
    monkeypatch.setattr(sources, "snapshot_download", lambda *_, **__: str(copied(commit)))
    model = models.load(Settings(model="somebody/small", device="cpu"))
    assert (model.name, model.revision) == ("somebody/small", "0123456789abcdef")


def test_an_empty_folder_is_no_model(tmp_path: Path) -> None:
    assert "has no config.json" in refusal(model=str(tmp_path)).message


def test_another_architecture_is_named(tmp_path: Path) -> None:
    assert "of the kind 'gpt2'" in refusal(model=str(copied(tmp_path, model_type="gpt2"))).message


def test_broken_weights_get_a_sentence(tmp_path: Path) -> None:
    file = copied(tmp_path) / "model.safetensors"
    whole = file.read_bytes()
    for kept in (4, 5000, len(whole) - 1000):
        file.write_bytes(whole[:kept])
        assert "could not be loaded" in refusal(model=str(tmp_path)).message
    file.unlink()
    assert "no weights" in refusal(model=str(tmp_path)).message


def test_a_tokenizer_that_is_missing_gets_a_sentence(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    for file in folder.glob("tokenizer*"):
        file.unlink()
    assert "there is no tokenizer" in refusal(model=str(folder)).message


def test_weights_that_are_missing_are_not_made_up(tmp_path: Path) -> None:
    file = copied(tmp_path) / "model.safetensors"
    tensors = load_file(file)
    name = next(name for name in sorted(tensors) if "layers.3" in name and name.endswith("q_proj.weight"))
    del tensors[name]
    save_file(tensors, file, {"format": "pt"})
    message = refusal(model=str(tmp_path)).message
    assert "its weights are not whole: " in message
    assert "layers.3.self_attn.q_proj.weight" in message


def test_weights_left_on_meta_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = DiffusionGemmaForBlockDiffusion.from_pretrained

    def spread_too_thin(*arguments: Any, **options: Any) -> Any:
        network, report = theirs(*arguments, **options)
        network.model.decoder.layers[2].to("meta")
        return network, report

    monkeypatch.setattr(DiffusionGemmaForBlockDiffusion, "from_pretrained", spread_too_thin)
    error = refusal()
    assert "left without values" in error.message
    assert "layers.2" in error.message


def test_what_does_not_fit_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "there", lambda *_: 1_000_000)
    monkeypatch.setattr(DiffusionGemmaForBlockDiffusion, "from_pretrained", None)
    message = refusal().message
    assert re.search(r"its weights take \d+\.\d MB, and 1\.0 MB are free on cpu", message)
    assert "PLAYGROUND_QUANTIZE" in message


def test_the_memory_of_weights_follows_precision_and_quantization() -> None:
    given = memory.Weights(parameters=1000, matrices=200, stored=2000)
    assert memory.needed(given, "auto", "none") == 2000
    assert memory.needed(given, torch.float32, "none") == 4000
    assert memory.needed(given, torch.bfloat16, "8bit") == 1600 + 200
    assert memory.needed(given, torch.bfloat16, "4bit") == 1600 + 112.5 // 1


def test_a_container_s_limit_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "CONTROL_GROUP", tmp_path)
    everything = memory.there(torch.device("cpu"))
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    assert memory.there(torch.device("cpu")) == 3000 < everything


def test_the_revision_follows_the_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(bytes(1000))
    first = weights_hash(tmp_path)
    file.write_bytes(bytes(999) + b"x")
    assert weights_hash(tmp_path) != first
    monkeypatch.setattr(sources, "HASH_WHOLE_BELOW", 10)
    sampled = weights_hash(tmp_path)
    file.write_bytes(b"y" + bytes(999))
    assert weights_hash(tmp_path) != sampled


def test_pieces_come_by_id(embedded: Model) -> None:
    (four,), (seven,) = embedded.encode_text("4"), embedded.encode_text("7")
    assert embedded.pieces([four, seven], [seven]) == {four: "4", seven: "7"}
