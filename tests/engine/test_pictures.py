"""Pictures in a prompt: the processor's tokens, the mask, several of them, in any chunk, as `generate()` has them."""

import io
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from transformers import AutoTokenizer
from transformers.models.gemma4.image_processing_pil_gemma4 import Gemma4ImageProcessorPil

from playground.engine import models, runs
from playground.engine.models import Model
from playground.engine.prefixes import Prefixes
from playground.engine.steering import Steering
from playground.engine.verify import verify
from playground.errors import PlaygroundError
from playground.events import Event, RunFinished, RunStarted
from playground.parameters import EntropyBoundSampler
from playground.recipe import FilePart, ImagePart, Message, Recipe, TextPart
from playground.settings import Settings
from playground.trace.log import RunLog
from tests import released
from tests.engine.reference import agree


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return released.save(tmp_path_factory.mktemp("released") / "small")


@pytest.fixture(scope="module")
def model(folder: Path) -> Model:
    return models.load(Settings(model=str(folder), device="cpu"))


def picture(number: int, width: int, height: int) -> bytes:
    """Noise, as a PNG."""
    torch.manual_seed(number)
    pixels = torch.randint(0, 256, (height, width, 3), dtype=torch.uint8).numpy()
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def image(model: Model, data: bytes) -> ImagePart:
    return ImagePart(type="image", sha256=model.uploads.put(data).sha256)


def text(said: str) -> TextPart:
    return TextPart(type="text", text=said)


def made(model: Model, *parts: Any, **fields: Any) -> list[Event]:
    sampler = EntropyBoundSampler(entropy_bound=1.5, max_denoising_steps=8)
    if parts:
        fields["messages"] = [Message(role="user", content=list(parts))]
    recipe = Recipe(**{"max_new_tokens": 64, "sampler": sampler, "seed": 2} | fields)
    recipe = runs.prepare(model, recipe, Settings())
    return list(runs.events(model, recipe, Steering(recipe)))


def theirs(folder: Path, ids: list[int], *files: bytes) -> dict[str, torch.Tensor]:
    """What `generate()` takes, as the checkpoint's processor makes it."""
    shown = [Image.open(io.BytesIO(file)).convert("RGB") for file in files]
    given = Gemma4ImageProcessorPil.from_pretrained(folder)(shown, return_tensors="pt")
    soft = AutoTokenizer.from_pretrained(folder).get_vocab()["<|image|>"]
    return {
        "pixel_values": given["pixel_values"],
        "image_position_ids": given["image_position_ids"],
        "mm_token_type_ids": (torch.tensor([ids]) == soft).long(),
    }


def prompt_of(events: list[Event]) -> list[int]:
    assert isinstance(events[0], RunStarted)
    return events[0].prompt_ids


@pytest.mark.parametrize("before", [3, 480, 700])
def test_two_pictures_as_generate_sees_them(
    model: Model, folder: Path, before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = picture(1, 50, 40), picture(2, 30, 90)
    parts = (text("x" * before), image(model, one), text("and"), image(model, two), text("Which is larger?"))
    events = made(model, *parts)
    agree(model, events, monkeypatch, **theirs(folder, prompt_of(events), one, two))


def test_the_prompt_has_the_processor_s_tokens(model: Model, folder: Path) -> None:
    data = picture(3, 64, 32)
    events = made(model, text("Look: "), image(model, data), text(" What is it?"))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    given = Gemma4ImageProcessorPil.from_pretrained(folder)(Image.open(io.BytesIO(data)))
    count = int(given["num_soft_tokens_per_image"][0])
    assert 1 < count <= 70
    chat = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look: "},
                {"type": "image"},
                {"type": "text", "text": " What is it?"},
            ],
        }
    ]
    rendered = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    rendered = rendered.replace("<|image|>", f"<|image>{'<|image|>' * count}<image|>")
    assert prompt_of(events) == tokenizer(rendered, add_special_tokens=False)["input_ids"]
    started = events[0]
    assert isinstance(started, RunStarted)
    [shown] = started.pictures
    assert (shown.width, shown.height, shown.tokens) == (64, 32, count)
    assert shown.thumbnail.startswith("data:image/jpeg;base64,")


def test_tokens_of_a_picture_see_those_behind_them(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    message = Message(role="user", content=[image(model, picture(4, 40, 40)), text("?")])
    prompt = model.prompt([message], thinking=False)
    seeing = model.encode_pass(model.cache(), prompt.ids, prompt.pictures)
    monkeypatch.setattr(model._text_config, "use_bidirectional_attention", None)
    causal = model.encode_pass(model.cache(), prompt.ids, prompt.pictures)
    assert (seeing - causal).abs().max() > 1e-3


def test_another_picture_is_another_prompt_also_for_what_is_kept(model: Model) -> None:
    model.prefixes = Prefixes(1 << 28)

    def reused(number: int, seed: int) -> tuple[int, str]:
        events = made(model, image(model, picture(number, 40, 40)), text("y" * 900), seed=seed)
        finished = events[-1]
        assert isinstance(finished, RunFinished)
        return finished.metrics.reused_tokens, finished.text

    assert reused(5, 0)[0] == 0
    again, said = reused(5, 1)
    assert again == 512
    assert reused(6, 1)[0] == 0
    model.prefixes = Prefixes(0)
    assert reused(5, 1) == (0, said)


def test_pictures_in_a_conversation_and_a_check_of_it(model: Model) -> None:
    messages = [
        Message(role="user", content=[image(model, picture(7, 40, 40)), text("What is it?")]),
        Message(role="assistant", content="Noise."),
        Message(role="user", content=[text("And this?"), image(model, picture(8, 20, 60))]),
    ]
    log = RunLog()
    events = [log.append(event) for event in made(model, messages=messages)]
    assert verify(model, events).passes > 0


def test_a_text_file_is_text(model: Model) -> None:
    upload = model.uploads.put("\ufeffIt says <turn|> here.\n".encode())
    part = FilePart(type="file", sha256=upload.sha256)
    ours = model.encode([Message(role="user", content=[part, text("Why?")])], thinking=False)
    assert ours == model.encode(
        [Message(role="user", content=[text("It says <turn|> here."), text("Why?")])], thinking=False
    )


def test_what_is_not_here_or_not_taken_is_said(model: Model, embedded: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = ImagePart(type="image", sha256="0" * 64)
    with pytest.raises(PlaygroundError, match="upload it again") as raised:
        made(model, missing)
    assert (raised.value.code, raised.value.field) == ("unknown_upload", "recipe.messages")
    upload = model.uploads.put(b"words")
    with pytest.raises(PlaygroundError, match="is not a picture"):
        made(model, ImagePart(type="image", sha256=upload.sha256))
    monkeypatch.setattr(embedded, "_image_processor", None)
    with pytest.raises(PlaygroundError, match="'embedded' takes no pictures"):
        made(embedded, missing)
