"""From a conversation to token ids: the chat template's markers are markers, what people wrote is text."""

from collections.abc import Sequence
from typing import Any

from playground.recipe import Message

# Private-use characters stand for the contents while the template is rendered.
_OPEN, _CLOSE = "\ue0f0", "\ue0f1"


def encode(tokenizer: Any, messages: Sequence[Message], thinking: bool) -> list[int]:
    """The prompt's ids, ready for the model's turn.

    tokenizer: a transformers tokenizer with a chat template. The template is rendered with a stand-in for each
    content, and its own text is encoded with special tokens; the contents, with surrounding white space removed as
    Gemma's template does, are encoded without, so that a typed `<turn|>` stays seven characters.
    """
    stand_ins = [f"{_OPEN}{index}{_CLOSE}" for index in range(len(messages))]
    rendered: str = tokenizer.apply_chat_template(
        [{"role": message.role, "content": mark} for message, mark in zip(messages, stand_ins, strict=True)],
        tokenize=False,
        add_generation_prompt=True,
        enable_thinking=thinking,
    )
    ids: list[int] = []
    rest = rendered
    for message, mark in zip(messages, stand_ins, strict=True):
        before, found, rest = rest.partition(mark)
        if not found:
            raise ValueError(f"the model's chat template leaves out a message of role {message.role}")
        ids += _encode(tokenizer, before, special=True)
        ids += encode_text(tokenizer, message.content.strip())
    return ids + _encode(tokenizer, rest, special=True)


def encode_text(tokenizer: Any, text: str) -> list[int]:
    """Ids of plain text, also where it spells a marker."""
    return _encode(tokenizer, text, special=False)


def _encode(tokenizer: Any, text: str, special: bool) -> list[int]:
    if not text:
        return []
    return list(tokenizer.encode(text, add_special_tokens=False, split_special_tokens=not special))
