"""Load a DiffusionGemma checkpoint and run its passes; the only file that touches transformers' model classes."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from torch import Tensor
from transformers import AutoTokenizer, DiffusionGemmaForBlockDiffusion, DynamicCache

from playground.engine import prompts
from playground.engine.answers import Channel
from playground.errors import ModelError
from playground.recipe import Message
from playground.settings import Settings

EMBEDDED = "embedded"
FILL = "<|fill|>"
"""The embedded model's filler: pads a hole that is longer than its text, and vanishes when the text is read."""
EMBEDDED_FOLDER = Path(__file__).parent.parent / "tiny" / "checkpoint"

HASH_WHOLE_BELOW = 1 << 30
"""Weights up to this many bytes are hashed whole; of larger ones the sizes and evenly spaced samples."""
HASH_SAMPLES = 64
HASH_SAMPLE_BYTES = 1 << 20


class Model:
    """A loaded checkpoint: text to ids and back, and the two passes that everything is made of.

    Not thread-safe: passes are to be run one at a time, as the scheduler of turns does.
    """

    def __init__(self, network: Any, tokenizer: Any, name: str, revision: str) -> None:
        config = network.config
        self.name = name
        self.revision = revision
        self.canvas_length: int = config.canvas_length
        self.vocab_size: int = config.text_config.vocab_size
        self.context_length: int = config.text_config.max_position_embeddings
        self.parameters: int = sum(parameter.numel() for parameter in network.parameters())
        self.device: str = str(network.device)
        self.dtype: str = str(network.dtype).removeprefix("torch.")
        self.end_ids: list[int] = _as_list(network.generation_config.eos_token_id)
        self.end_of_turn: int = _end_of_turn(tokenizer, self.end_ids)
        self.fill_id: int | None = tokenizer.get_vocab().get(FILL)
        self.channel = _channel(tokenizer)
        self.supports_thinking: bool = self.channel is not None and "enable_thinking" in (tokenizer.chat_template or "")
        self._network = network
        self._tokenizer = tokenizer
        self._text_config = config.get_text_config()
        self._softcap: float = float(network.final_logit_softcapping)
        self._embedding_dtype: torch.dtype = network.model.decoder.embed_tokens.weight.dtype
        self._pieces: dict[int, str] = {}

    # Text

    def encode(self, messages: Sequence[Message], thinking: bool) -> list[int]:
        """The conversation's ids, ready for the model's turn."""
        return prompts.encode(self._tokenizer, messages, thinking)

    def encode_text(self, text: str) -> list[int]:
        """Ids of plain text, also where it spells a marker."""
        return prompts.encode_text(self._tokenizer, text)

    def decode(self, ids: Sequence[int]) -> str:
        """Text of a whole sequence: fillers vanish, other special tokens are shown as they are spelled."""
        return self._decode([token for token in ids if token != self.fill_id])

    def _decode(self, ids: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return text

    def pieces(self, *columns: Sequence[int]) -> dict[int, str]:
        """The text of each single token in the columns, by id; part of a character shows as U+FFFD."""
        wanted = sorted(set().union(*columns))
        for token in wanted:
            if token not in self._pieces:
                self._pieces[token] = self._decode([token])
        return {token: self._pieces[token] for token in wanted}

    # Passes

    def cache(self) -> DynamicCache:
        """An empty KV cache. (A static one gives wrong logits beyond the sliding window upstream.)"""
        return DynamicCache(config=self._text_config)

    @torch.inference_mode()
    def encode_pass(self, cache: DynamicCache, ids: Sequence[int]) -> Tensor:
        """Append ids to the cache with causal attention; gives the logits after the last of them, (V,) float32."""
        input_ids = torch.tensor([list(ids)], device=self._network.device)  # (1, T)
        hidden = self._network.model.encoder(input_ids=input_ids, cache=cache).last_hidden_state  # (1, T, d)
        return self._logits(hidden[0, -1])

    @torch.inference_mode()
    def decode_pass(self, cache: DynamicCache, canvas_ids: Tensor, self_conditioning: Tensor | None) -> Tensor:
        """One decoder pass over a canvas, bidirectional, reading the cache: logits (C, V) float32.

        canvas_ids: (C,) int64; self_conditioning: the tempered logits of the step before, (C, V), or none.
        """
        hidden = self._network.model.decoder(
            decoder_input_ids=canvas_ids[None].to(self._network.device),
            cache=cache,
            self_conditioning_logits=None if self_conditioning is None else self_conditioning[None],
        ).last_hidden_state  # (1, C, d)
        return self._logits(hidden[0])

    def finish(self) -> None:
        """Wait for the passes asked for, so that they can be timed."""
        if self._network.device.type == "cuda":
            torch.cuda.synchronize(self._network.device)

    def self_conditioning(self, logits: Tensor) -> Tensor:
        """The tempered logits as the next pass takes them: in the embedding's dtype."""
        return logits.to(self._embedding_dtype)

    def _logits(self, hidden: Tensor) -> Tensor:
        logits: Tensor = self._network.lm_head(hidden).to(torch.float32)
        return torch.tanh(logits / self._softcap) * self._softcap


def load(settings: Settings) -> Model:
    """Load the model that the settings name, in evaluation mode.

    Raises `ModelError` with a sentence where it cannot be found, read or placed.
    """
    if settings.threads:
        torch.set_num_threads(settings.threads)
    device = _device(settings.device)
    embedded = settings.model == EMBEDDED
    source = str(EMBEDDED_FOLDER) if embedded else settings.model
    if source.startswith((".", "/", "~")) and not Path(source).expanduser().is_dir():
        raise ModelError(f"The model {source!r} could not be loaded: there is no such folder.", field="model")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=embedded)
        network = DiffusionGemmaForBlockDiffusion.from_pretrained(
            source, dtype=_dtype(settings.dtype, device), local_files_only=embedded
        )
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise ModelError(
            f"The model {settings.model!r} could not be loaded: {str(error).splitlines()[0]} "
            "PLAYGROUND_MODEL takes `embedded`, a checkpoint folder, or a hub id."
        ) from error
    try:
        network = network.to(device).eval()
    except (torch.OutOfMemoryError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ModelError(f"The model {settings.model!r} does not fit on {device}: {reason}") from error
    folder = Path(source)
    commit = getattr(network.config, "_commit_hash", None)
    revision = weights_hash(folder) if folder.is_dir() else commit or "unknown"
    name = settings.model if embedded or not folder.is_dir() else folder.resolve().name
    return Model(network, tokenizer, name, revision)


def weights_hash(folder: Path) -> str:
    """SHA-256 over the weights' files in a checkpoint folder, shortened to 16 hex digits.

    Files above a gibibyte in all are sampled evenly, so that opening 50 GB does not take minutes.
    """
    files = sorted(folder.glob("*.safetensors"))
    digest = hashlib.sha256()
    whole = sum(file.stat().st_size for file in files) <= HASH_WHOLE_BELOW
    for file in files:
        size = file.stat().st_size
        digest.update(f"{file.name}:{size}\n".encode())
        with file.open("rb") as stream:
            if whole:
                while block := stream.read(HASH_SAMPLE_BYTES):
                    digest.update(block)
            else:
                for sample in range(HASH_SAMPLES):
                    stream.seek(sample * (size // HASH_SAMPLES))
                    digest.update(stream.read(HASH_SAMPLE_BYTES))
    return digest.hexdigest()[:16]


def _device(wanted: str) -> torch.device:
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(wanted)
    except RuntimeError as error:
        raise ModelError(f"PLAYGROUND_DEVICE is {wanted!r}; it takes `auto`, `cpu`, `cuda` or `cuda:N`.") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ModelError(f"PLAYGROUND_DEVICE is {wanted!r}, but torch sees no CUDA device here.")
    return device


def _dtype(wanted: str, device: torch.device) -> torch.dtype | str:
    if wanted == "auto":
        return torch.float32 if device.type == "cpu" else "auto"
    dtype: torch.dtype = getattr(torch, wanted)
    return dtype


def _as_list(ids: int | list[int] | None) -> list[int]:
    if ids is None:
        return []
    return [ids] if isinstance(ids, int) else list(ids)


def _end_of_turn(tokenizer: Any, end_ids: list[int]) -> int:
    turn: int | None = tokenizer.get_vocab().get("<turn|>")
    return turn if turn is not None and turn in end_ids else end_ids[0]


def _channel(tokenizer: Any) -> Channel | None:
    vocabulary = tokenizer.get_vocab()
    if "<|channel>" in vocabulary and "<channel|>" in vocabulary:
        return Channel(open=vocabulary["<|channel>"], close=vocabulary["<channel|>"])
    return None
