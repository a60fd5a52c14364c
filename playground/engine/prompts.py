"""From a conversation to token ids: the chat template's markers are markers, what people wrote is text."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from playground.engine.pictures import Pixels
from playground.recipe import Message, TextPart

# Private-use characters stand for the contents while the template is rendered.
_OPEN, _CLOSE = "\ue0f0", "\ue0f1"


@dataclass(frozen=True)
class Picture:
    """A picture in a prompt: its soft tokens' place, and what the vision tower is given."""

    start: int
    end: int
    pixels: Pixels


@dataclass(frozen=True)
class Prompt:
    """A conversation as the model reads it."""

    ids: list[int]
    pictures: list[Picture] = field(default_factory=list)

    @property
    def content(self) -> tuple[Hashable, ...]:
        """The ids, those of a picture along with its hash: two prompts with the same content are encoded alike."""
        content: list[Hashable] = list(self.ids)
        for picture in self.pictures:
            for at in range(picture.start, picture.end):
                content[at] = (picture.pixels.sha256, at - picture.start)
        return tuple(content)

    def between(self, start: int, end: int) -> list[Picture]:
        """The pictures within a chunk, none of which is cut."""
        return [picture for picture in self.pictures if start <= picture.start and picture.end <= end]


@dataclass(frozen=True)
class ImageTokens:
    """The ids around and for a picture, and the text of the latter in a chat template."""

    begin: int
    soft: int
    end: int
    text: str


def encode(
    tokenizer: Any,
    messages: Sequence[Message],
    thinking: bool,
    image: ImageTokens | None = None,
    pixels: Sequence[Pixels] = (),
) -> Prompt:
    """The prompt, ready for the model's turn.

    tokenizer: a transformers tokenizer with a chat template. The template is rendered with a stand-in for each text and
    its own marker for each picture, and what it adds is encoded with special tokens; the texts (files have become
    texts before), with surrounding white space removed as Gemma's template does, are encoded without, so that a typed
    `<turn|>` stays seven characters.
    pixels: of the pictures, in order. Raises `ValueError` where the template leaves something out.
    """
    texts: list[str] = []
    turns: list[dict[str, Any]] = []
    for message in messages:
        content: str | list[dict[str, str]]
        if isinstance(message.content, str):
            content = _stand_in(texts, message.content)
        else:
            content = [
                {"type": "text", "text": _stand_in(texts, part.text)}
                if isinstance(part, TextPart)
                else {"type": "image"}
                for part in message.content
            ]
        turns.append({"role": message.role, "content": content})
    rest: str = tokenizer.apply_chat_template(
        turns, tokenize=False, add_generation_prompt=True, enable_thinking=thinking
    )
    left = list(pixels)
    prompt = Prompt([])
    for index, text in enumerate(texts):
        before, found, rest = rest.partition(f"{_OPEN}{index}{_CLOSE}")
        if not found:
            raise ValueError(f"the model's chat template leaves out {text[:40]!r}")
        _append(prompt, tokenizer, before, image, left)
        prompt.ids.extend(encode_text(tokenizer, text.strip()))
    _append(prompt, tokenizer, rest, image, left)
    if left:
        raise ValueError("the model's chat template leaves out a picture")
    return prompt


def _stand_in(texts: list[str], text: str) -> str:
    texts.append(text)
    return f"{_OPEN}{len(texts) - 1}{_CLOSE}"


def _append(prompt: Prompt, tokenizer: Any, rendered: str, image: ImageTokens | None, left: list[Pixels]) -> None:
    """What the template wrote; each picture's marker becomes as many soft tokens as the picture has."""
    if image is None:
        prompt.ids.extend(_encode(tokenizer, rendered, special=True))
        return
    first, *others = rendered.split(image.text)
    prompt.ids.extend(_encode(tokenizer, first, special=True))
    for behind in others:
        pixels = left.pop(0)
        start = len(prompt.ids) + 1
        prompt.ids.extend([image.begin, *[image.soft] * pixels.soft_tokens, image.end])
        prompt.pictures.append(Picture(start, start + pixels.soft_tokens, pixels))
        prompt.ids.extend(_encode(tokenizer, behind, special=True))


def encode_text(tokenizer: Any, text: str) -> list[int]:
    """Ids of plain text, also where it spells a marker."""
    return _encode(tokenizer, text, special=False)


def _encode(tokenizer: Any, text: str, special: bool) -> list[int]:
    if not text:
        return []
    return list(tokenizer.encode(text, add_special_tokens=False, split_special_tokens=not special))
