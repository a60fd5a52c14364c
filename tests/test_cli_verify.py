"""`playground verify` of traces whose prompts have uploads, on a small checkpoint of the released shape."""

import io
import json
from hashlib import sha256
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from playground import cli
from playground.engine import models
from playground.engine import verify as verifying
from playground.errors import PlaygroundError
from playground.settings import Settings
from playground.trace import file
from playground.uploads import Uploads
from tests import released

WORDS = b"It says <turn|> here.\n"


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint, two pictures, a text file, and traces: of a run with the first picture and the text, and one with
    neither."""
    folder = tmp_path_factory.mktemp("uploads")
    released.save(folder / "model")
    for name, colour in (("photo.png", "teal"), ("other.png", "red")):
        made = io.BytesIO()
        Image.new("RGB", (40, 30), colour).save(made, "PNG")
        (folder / name).write_bytes(made.getvalue())
    (folder / "notes.txt").write_bytes(WORDS)
    options = ["--seed", 2, "--max-new-tokens", 32, "--max-denoising-steps", 3, "--json"]
    for name, uploads in (("run.jsonl", ("photo.png", "notes.txt")), ("plain.jsonl", ())):
        given = [word for upload in uploads for word in ("--upload", folder / upload)]
        place = ["--model", folder / "model", "--trace", folder / name]
        result = invoke("generate", "What is in the picture?", *given, *options, *place)
        assert result.exit_code == 0, result.output
    return folder


def verify(folder: Path, trace: str, *uploads: str) -> Result:
    given = [word for upload in uploads for word in ("--upload", folder / upload)]
    return invoke("verify", folder / trace, "--model", folder / "model", "--tolerance", 0, *given)


def hash_of(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("uploads", [("photo.png", "notes.txt"), ("notes.txt", "photo.png")])
def test_a_trace_follows_with_its_uploads_in_any_order(folder: Path, uploads: tuple[str, ...]) -> None:
    result = verify(folder, "run.jsonl", *uploads)
    assert result.exit_code == 0, result.output
    assert "with the same bits" in result.stdout


@pytest.mark.parametrize(
    ("given", "kind", "missing"), [("notes.txt", "a picture", "photo.png"), ("photo.png", "a text file", "notes.txt")]
)
def test_what_is_missing_is_named(folder: Path, given: str, kind: str, missing: str) -> None:
    result = verify(folder, "run.jsonl", given)
    assert result.exit_code == 2
    assert f"--upload: the trace's prompt has uploads that were not given: {kind} (SHA-256 " in result.stderr
    assert hash_of(folder / missing) in result.stderr
    assert hash_of(folder / given) not in result.stderr


def test_another_file_is_named_beside_what_belongs_there(folder: Path) -> None:
    result = verify(folder, "run.jsonl", "other.png", "notes.txt")
    assert result.exit_code == 2
    assert f"other.png (SHA-256 {hash_of(folder / 'other.png')}) is not in the trace's prompt" in result.stderr
    assert f"a picture (SHA-256 {hash_of(folder / 'photo.png')}), a text file" in result.stderr


def test_a_prompt_without_uploads_takes_none(folder: Path) -> None:
    assert verify(folder, "plain.jsonl").exit_code == 0
    result = verify(folder, "plain.jsonl", "photo.png")
    assert result.exit_code == 2
    assert "is not in the trace's prompt, which has no uploads" in result.stderr


def test_a_file_that_cannot_be_read_is_said(folder: Path) -> None:
    result = verify(folder, "run.jsonl", "photo.png", "nowhere.txt")
    assert result.exit_code == 2
    assert "nowhere.txt cannot be read" in result.stderr


def test_what_a_run_says_of_its_pictures_is_checked(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "run.jsonl").read_text().splitlines()
    started = json.loads(lines[0])
    started["pictures"][0]["tokens"] += 1
    spoilt = tmp_path / "run.jsonl"
    spoilt.write_text("\n".join([json.dumps(started), *lines[1:]]) + "\n")
    given = ("--upload", folder / "photo.png", "--upload", folder / "notes.txt")
    result = invoke("verify", spoilt, "--model", folder / "model", *given)
    assert result.exit_code == 1
    assert "event 0 (run_started), pictures: tokens of entry 0 is" in result.stdout


def test_the_check_itself_names_what_the_model_lacks(folder: Path) -> None:
    model = models.load(Settings(model=str(folder / "model"), device="cpu"))
    model.uploads = Uploads()
    model.uploads.put(WORDS)
    events = list(file.read(folder / "run.jsonl"))
    with pytest.raises(PlaygroundError, match="not here: a picture") as refusal:
        verifying.verify(model, events)
    assert (refusal.value.code, refusal.value.field) == ("unknown_upload", "upload")
    assert hash_of(folder / "photo.png") in refusal.value.message
    assert hash_of(folder / "notes.txt") not in refusal.value.message
