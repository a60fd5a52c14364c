"""The tokenizer: byte-level BPE over the tasks' text, with every byte in the alphabet, so that any text round trips.

Digits stand alone, and so do the dots of a Sudoku: numbers keep their columns, and cells their places.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from playground.tiny.markers import BOS, EOS, IMAGE, PAD, SPECIAL_TOKENS, UNK
from playground.tiny.tasks import sample_mixture

VOCAB_SIZE = 1024
CONTEXT = 2048

CHAT_TEMPLATE = """\
{%- macro written(content) -%}
{%- if content is string -%}{{ content | trim }}
{%- else -%}
{%- for part in content -%}
{%- if part['type'] == 'text' -%}{{ part['text'] | trim }}{%- elif part['type'] == 'image' -%}<|image|>{%- endif -%}
{%- endfor -%}
{%- endif -%}
{%- endmacro -%}
{{- bos_token -}}
{%- set turns = messages -%}
{%- set system = messages and messages[0]['role'] in ['system', 'developer'] -%}
{%- if enable_thinking or system -%}
{{- '<|turn>system\\n' -}}
{%- if enable_thinking -%}{{- '<|think|>' -}}{%- endif -%}
{%- if system -%}{{- written(messages[0]['content']) -}}{%- set turns = messages[1:] -%}{%- endif -%}
{{- '<turn|>\\n' -}}
{%- endif -%}
{%- for message in turns -%}
{%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}
{{- '<|turn>' + role + '\\n' + written(message['content']) + '<turn|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|turn>model\\n' -}}{%- endif -%}
"""


def _text(examples: int, seed: int) -> Iterator[str]:
    rng = Random(seed)
    yield "user\n"
    yield "model\n"
    yield "system\n"
    yield from ["Sudoku:\n"] * (examples // 10)
    for _ in range(examples):
        task = sample_mixture(rng)
        if task.family.startswith("sudoku"):
            continue  # dots must not merge: a cell is a token
        yield task.prompt
        yield task.answer
        if task.thought is not None:
            yield "thought\n" + task.thought


def train_tokenizer(examples: int = 60_000, seed: int = 1, vocab_size: int = VOCAB_SIZE) -> Tokenizer:
    """BPE learnt from training instances: the special tokens first, all 256 bytes, then merges up to `vocab_size`."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        max_token_length=16,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_text(examples, seed), trainer)
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    """Write the files from which `AutoTokenizer.from_pretrained(folder)` loads it, with the chat template."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BOS,
        "eos_token": EOS,
        "pad_token": PAD,
        "unk_token": UNK,
        "additional_special_tokens": [t for t in SPECIAL_TOKENS if t not in (BOS, EOS, PAD, UNK)],
        "image_token": IMAGE,
        "clean_up_tokenization_spaces": False,
        "model_max_length": CONTEXT,
        "padding_side": "left",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")
