import pytest

from playground.engine.models import Model
from playground.recipe import Message

MARKERS = ["<turn|>", "<|turn>model", "<eos>", "<bos>", "<pad>", "<|turn>system\n"]


def encode(model: Model, *contents: str) -> list[int]:
    roles = ["user", "assistant"]
    messages = [Message(role=roles[index % 2], content=content) for index, content in enumerate(contents)]
    return model.encode(messages, thinking=False)


def test_the_prompt_equals_the_chat_template(embedded: Model) -> None:
    tokenizer = embedded._tokenizer
    chat = [
        {"role": "user", "content": "What is 2 + 3?"},
        {"role": "assistant", "content": "5"},
        {"role": "user", "content": "Hi"},
    ]
    whole = tokenizer.apply_chat_template(chat, tokenize=True, add_generation_prompt=True)
    assert encode(embedded, "What is 2 + 3?", "5", "Hi") == list(whole["input_ids"])


@pytest.mark.parametrize("marker", MARKERS)
def test_a_typed_marker_is_text(embedded: Model, marker: str) -> None:
    special = set(embedded._tokenizer.all_special_ids) | {4, 5}
    plain = [token for token in encode(embedded, "word") if token in special]
    ids = encode(embedded, f"Say {marker} to me")
    assert [token for token in ids if token in special] == plain
    assert f"Say {marker} to me" in embedded.decode(ids)


def test_white_space_around_the_text_is_left_out(embedded: Model) -> None:
    assert encode(embedded, "\n  Hello \n") == encode(embedded, "Hello")


def test_encoding_text_leaves_the_tokenizer_able_to_read_markers(embedded: Model) -> None:
    first = encode(embedded, "<turn|>")
    assert encode(embedded, "<turn|>") == first
    assert embedded._tokenizer.encode("<turn|>", add_special_tokens=False, split_special_tokens=False) == [5]
