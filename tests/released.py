"""A checkpoint folder of the released configuration's shape in small: all parts, random weights, saved as usual.

Experts, five sliding layers to a full one, wider heads with fewer keys in the full ones, a vision tower, image tokens
that see each other, Gemma 4's markers, tokenizer, chat template and image processor.
"""

from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion, DiffusionGemmaTextConfig
from transformers import PreTrainedTokenizerFast as FastTokenizer
from transformers.models.gemma4.image_processing_pil_gemma4 import Gemma4ImageProcessorPil

WINDOW = 512
CANVAS = 32

MARKERS = ["<pad>", "<eos>", "<bos>", "<unk>", "<|turn>", "<turn|>", "<|think|>", "<|channel>", "<channel|>"]
IMAGE_MARKERS = ["<|image>", "<image|>", "<|image|>"]

CHAT_TEMPLATE = """\
{%- macro said(content) -%}
{%- if content is string -%}{{ content | trim }}{%- else -%}
{%- for part in content -%}
{%- if part['type'] == 'image' -%}<|image|>{%- else -%}{{ part['text'] | trim }}{%- endif -%}
{%- endfor -%}
{%- endif -%}
{%- endmacro -%}
{{- bos_token -}}
{%- set system = messages[0]['role'] == 'system' -%}
{%- if enable_thinking or system -%}
{{- '<|turn>system\\n' -}}{%- if enable_thinking -%}{{- '<|think|>\\n' -}}{%- endif -%}
{%- if system -%}{{- said(messages[0]['content']) -}}{%- endif -%}{{- '<turn|>\\n' -}}
{%- endif -%}
{%- set turns = messages[1:] if system else messages -%}
{%- for message in turns -%}
{{- '<|turn>' + ('model' if message['role'] == 'assistant' else message['role']) + '\\n' -}}
{{- said(message['content']) + '<turn|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|turn>model\\n' -}}{%- endif -%}
"""


def tokenizer() -> FastTokenizer:
    """One token a byte, and Gemma 4's markers."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: index for index, piece in enumerate([*MARKERS, *IMAGE_MARKERS, *letters])}
    inner = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens([AddedToken(marker, special=True) for marker in [*MARKERS, *IMAGE_MARKERS]])
    outer = FastTokenizer(
        tokenizer_object=inner,
        bos_token="<bos>",
        eos_token="<eos>",
        pad_token="<pad>",
        unk_token="<unk>",
        padding_side="left",
        extra_special_tokens={"boi_token": "<|image>", "eoi_token": "<image|>", "image_token": "<|image|>"},
    )
    outer.chat_template = CHAT_TEMPLATE
    return outer


def network(vocab_size: int = 0, canvas_length: int = CANVAS, window: int = WINDOW) -> DiffusionGemmaForBlockDiffusion:
    """Random weights, sharp enough that canvases settle. vocab_size: by default the tokenizer's own."""
    torch.manual_seed(1)
    ids = tokenizer().get_vocab()
    text = DiffusionGemmaTextConfig(
        vocab_size=vocab_size or len(ids),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=6,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        global_head_dim=32,
        num_global_key_value_heads=1,
        max_position_embeddings=16384,
        sliding_window=window,
        num_experts=8,
        top_k_experts=2,
        moe_intermediate_size=16,
        use_bidirectional_attention="vision",
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=2,
        initializer_range=0.3,
    )
    vision = {
        "model_type": "gemma4_vision",
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "patch_size": 4,
        "position_embedding_size": 256,
        "standardize": True,
        "initializer_range": 0.3,
    }
    made = DiffusionGemmaForBlockDiffusion(
        DiffusionGemmaConfig(
            text_config=text,
            vision_config=vision,
            canvas_length=canvas_length,
            boi_token_id=ids["<|image>"],
            eoi_token_id=ids["<image|>"],
            image_token_id=ids["<|image|>"],
        )
    ).eval()
    with torch.no_grad():
        made.lm_head.weight.mul_(6)
    made.generation_config.eos_token_id = [1, ids["<turn|>"]]
    made.generation_config.pad_token_id = 0
    return made


def save(folder: Path, **options: int) -> Path:
    """Write the whole checkpoint; options as `network` takes them."""
    network(**options).save_pretrained(folder, max_shard_size="200KB")
    tokenizer().save_pretrained(folder)
    Gemma4ImageProcessorPil(patch_size=4, max_soft_tokens=70, pooling_kernel_size=3).save_pretrained(folder)
    return folder
