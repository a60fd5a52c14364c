"""Load a DiffusionGemma checkpoint and run its passes; the only file that touches transformers' model classes."""

from collections.abc import Sequence
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from torch import Tensor
from transformers import AutoTokenizer, DiffusionGemmaForBlockDiffusion, DynamicCache

from playground.engine import masks, memory, pictures, placement, prompts, sources
from playground.engine.answers import Channel
from playground.engine.compiled import Compiled, How
from playground.engine.prefixes import Prefixes
from playground.engine.prompts import ImageTokens, Picture, Prompt
from playground.engine.sources import EMBEDDED_FOLDER, TAKES, Source, Tell, weights_hash
from playground.errors import ModelError, PlaygroundError
from playground.events import Picture as Shown
from playground.recipe import FilePart, ImagePart, Message, TextPart
from playground.settings import EMBEDDED, Settings
from playground.uploads import Uploads

__all__ = ["EMBEDDED", "EMBEDDED_FOLDER", "Model", "load", "weights_hash"]

FILL = "<|fill|>"
"""The embedded model's filler: pads a hole that is longer than its text, and vanishes when the text is read."""


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
        self.channel_ids = None if self.channel is None else [self.channel.open, self.channel.close]
        self.supports_thinking: bool = self.channel is not None and "enable_thinking" in (tokenizer.chat_template or "")
        self._network = network
        self._tokenizer = tokenizer
        self._text_config = config.get_text_config()
        self._softcap: float = float(network.final_logit_softcapping)
        self._embedding_dtype: torch.dtype = network.model.decoder.embed_tokens.weight.dtype
        self._pieces: dict[int, str] = {}
        self._image = _image_tokens(config, tokenizer)
        self._image_processor: Any = None
        self._compiled: Compiled | None = None
        self.prefixes = Prefixes(0)
        """Beginnings of prompts that are encoded already."""
        self.uploads = Uploads()
        """Where the pictures and files are that recipes name."""

    def take_pictures(self, processor: Any) -> None:
        """Let prompts have pictures, as the checkpoint's image processor (or none) makes them."""
        self._image_processor = processor

    @property
    def supports_images(self) -> bool:
        """Whether prompts may have pictures."""
        return self._image is not None and self._image_processor is not None

    # Text

    def encode(self, messages: Sequence[Message], thinking: bool) -> list[int]:
        """The conversation's ids, ready for the model's turn."""
        return self.prompt(messages, thinking).ids

    def prompt(self, messages: Sequence[Message], thinking: bool) -> Prompt:
        """The conversation as the model reads it, pictures among it.

        Raises `PlaygroundError` for uploads that are not here, and for pictures where the model takes none.
        """
        named = [part for message in messages for part in message.uploads if isinstance(part, ImagePart)]
        if named and not self.supports_images:
            raise PlaygroundError("bad_request", f"The model {self.name!r} takes no pictures.", "recipe.messages")
        found = [pictures.pixels(self._image_processor, self.uploads.get(part.sha256, "image")) for part in named]
        whole = [self._with_files(message) for message in messages]
        return prompts.encode(self._tokenizer, whole, thinking, self._image, found)

    def thumbnails(self, prompt: Prompt) -> list[Shown]:
        """The pictures of a prompt, in small."""
        return pictures.thumbnails([picture.pixels for picture in prompt.pictures], self.uploads)

    def _with_files(self, message: Message) -> Message:
        """The message with the text of its files in their place."""
        if isinstance(message.content, str):
            return message
        content = [
            TextPart.model_construct(type="text", text=self.uploads.get(part.sha256, "file").text)
            if isinstance(part, FilePart)
            else part
            for part in message.content
        ]
        return message.model_copy(update={"content": content})

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
    def encode_pass(self, cache: DynamicCache, ids: Sequence[int], shown: Sequence[Picture] = ()) -> Tensor:
        """Append ids to the cache with causal attention; gives the logits after the last of them, (V,) float32.

        shown: the pictures whose soft tokens are among the ids, each whole: those of a picture see each other.
        """
        input_ids = torch.tensor([list(ids)], device=self._network.device)  # (1, T)
        given: dict[str, Any] = {}
        if shown:
            empty = torch.empty((1, len(ids), 0), dtype=self._embedding_dtype, device=input_ids.device)
            given = {
                "pixel_values": torch.cat([picture.pixels.values for picture in shown]).to(input_ids.device),
                "image_position_ids": torch.cat([picture.pixels.positions for picture in shown]).to(input_ids.device),
                "attention_mask": masks.around(shown, cache, empty, self._text_config),
            }
        hidden = self._network.model.encoder(input_ids=input_ids, cache=cache, **given).last_hidden_state  # (1, T, d)
        return self._logits(hidden[0, -1])

    @torch.inference_mode()
    def decode_pass(self, cache: DynamicCache, canvas_ids: Tensor, self_conditioning: Tensor | None) -> Tensor:
        """One decoder pass over a canvas, bidirectional, reading the cache: logits (C, V) float32.

        canvas_ids: (C,) int64; self_conditioning: the tempered logits of the step before, (C, V), or none.
        """
        canvas_ids = canvas_ids.to(self._network.device)
        if self._compiled is not None:
            return self._compiled(cache, canvas_ids, self_conditioning)
        hidden = self._network.model.decoder(
            decoder_input_ids=canvas_ids[None],
            cache=cache,
            self_conditioning_logits=None if self_conditioning is None else self_conditioning[None],
        ).last_hidden_state  # (1, C, d)
        return self._logits(hidden[0])

    @torch.inference_mode()
    def compile(self, how: How, **options: Any) -> None:
        """Have `decode_pass` compiled from here on; once, for all prompts, canvases and runs.

        options: as `Compiled` takes them. Raises `ModelError` in a sentence where it cannot be done here.
        """
        compiled = Compiled(self._network, self._logits, how, **options)
        cache = self.cache()
        self.encode_pass(cache, [0, 0])
        compiled.compile(cache, torch.zeros(self.canvas_length, dtype=torch.int64, device=self._network.device))
        self._compiled = compiled

    @property
    def compiled(self) -> bool:
        """Whether denoising steps run a compiled pass, whose last bits may differ from the eager one's."""
        return self._compiled is not None

    def memory_of(self, tokens: int, chunk: int) -> int:
        """Bytes that a run takes on the device whose context grows to so many tokens, prompt chunks being that long."""
        caches = memory.caches(self._text_config, tokens, chunk, self._embedding_dtype.itemsize)
        if self._compiled is not None:  # which takes them in one piece
            caches *= 2
        logits = 3 * self.canvas_length * self.vocab_size * 4
        return caches + logits

    def free_memory(self) -> int:
        """Bytes that are free where the model is."""
        return memory.there(self._network.device)

    def release(self) -> None:
        """Give back what is kept between runs and what the device holds in reserve."""
        self.prefixes.clear()
        memory.give_back()

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


def load(settings: Settings, tell: Tell = lambda _: None) -> Model:
    """Load the model that the settings name, in evaluation mode.

    tell: takes a sentence from time to time, the memory that is needed and there among them.
    Raises `ModelError` with a sentence and the setting as its field where it cannot be found, read or placed.
    """
    if settings.threads:
        torch.set_num_threads(settings.threads)
    placement.check(settings)
    source = sources.find(settings.model, tell)
    device = placement.device(settings.device)
    options = placement.options(settings, device)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        _check_room(source, settings, device, options["dtype"], tell)
        tokenizer = AutoTokenizer.from_pretrained(source.folder, local_files_only=True)
        network, report = DiffusionGemmaForBlockDiffusion.from_pretrained(
            source.folder, local_files_only=True, output_loading_info=True, **options
        )
        placement.check_whole(network, report["missing_keys"], settings.model)
        if "device_map" not in options:
            network = network.to(device)
    except torch.OutOfMemoryError as error:
        reason = f"{device} ran out of memory. {_SMALLER}"
        raise ModelError(f"The model {settings.model!r} does not fit: {reason}", field="model") from error
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, ImportError, SafetensorError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        message = f"The model {settings.model!r} could not be loaded: {reason} {TAKES}"
        raise ModelError(message, field="model") from error
    model = Model(network.eval(), tokenizer, source.name, source.commit or weights_hash(source.folder))
    model.take_pictures(pictures.processor(source.folder))
    model.prefixes = Prefixes(settings.prefix_bytes)
    if settings.compile != "none":
        tell(f"Compiling the denoising step of the model {settings.model!r}; this may take a few minutes.")
        model.compile(settings.compile)
    model.uploads = Uploads(settings.keep_uploads_bytes, settings.upload_bytes, settings.max_pixels)
    return model


_SMALLER = "A smaller PLAYGROUND_DTYPE, PLAYGROUND_QUANTIZE, or a PLAYGROUND_DEVICE with more memory may help."


def _check_room(source: Source, settings: Settings, device: torch.device, dtype: torch.dtype | str, tell: Tell) -> None:
    """Say what the weights need and what there is, and refuse what cannot fit."""
    spread = settings.device_map != "one"
    needed = memory.needed(memory.weights(source.folder), dtype, settings.quantize)
    there = memory.there(device, spread)
    place = f"{torch.cuda.device_count()} GPUs" if spread else str(device)
    sizes = f"its weights take {memory.gigabytes(needed)}, and {memory.gigabytes(there)} are free on {place}"
    if needed > there:
        raise ModelError(f"The model {settings.model!r} does not fit: {sizes}. {_SMALLER}", field="model")
    tell(f"Loading the model {settings.model!r}: {sizes}.")


def _as_list(ids: int | list[int] | None) -> list[int]:
    if ids is None:
        return []
    return [ids] if isinstance(ids, int) else list(ids)


def _end_of_turn(tokenizer: Any, end_ids: list[int]) -> int:
    turn: int | None = tokenizer.get_vocab().get("<turn|>")
    return turn if turn is not None and turn in end_ids else end_ids[0]


def _image_tokens(config: Any, tokenizer: Any) -> ImageTokens | None:
    begin, soft, end = config.boi_token_id, config.image_token_id, config.eoi_token_id
    if None in (begin, soft, end) or max(begin, soft, end) >= min(len(tokenizer), config.text_config.vocab_size):
        return None
    return ImageTokens(begin, soft, end, tokenizer.convert_ids_to_tokens(soft))


def _channel(tokenizer: Any) -> Channel | None:
    vocabulary = tokenizer.get_vocab()
    if "<|channel>" in vocabulary and "<channel|>" in vocabulary:
        return Channel(open=vocabulary["<|channel>"], close=vocabulary["<channel|>"])
    return None
