import pytest
import torch
from transformers import DiffusionGemmaForBlockDiffusion, DynamicCache

from playground.tiny.markers import END_IDS, PAD_ID
from playground.tiny.model import ModelSize, new_model
from playground.tiny.packed import capped_logits, packed_hidden, soft_embeddings


def _distinct_scalars(model: DiffusionGemmaForBlockDiffusion) -> None:
    for i, layer in enumerate(model.model.decoder.layers):
        layer.layer_scalar.fill_(0.9 + 0.05 * i)
    for layer in model.model.encoder.language_model.layers:
        layer.layer_scalar.fill_(1.1)


@pytest.mark.parametrize("conditioned", [False, True])
def test_equals_transformers_encoder_and_decoder(
    small_model: DiffusionGemmaForBlockDiffusion, conditioned: bool
) -> None:
    _distinct_scalars(small_model)
    torch.manual_seed(0)
    clean, canvas = torch.randint(1, 512, (3, 24)), torch.randint(0, 512, (3, 32))
    context = torch.tensor([24, 17, 9])
    logits = torch.randn(3, 32, 512) * 3 if conditioned else None
    soft = None if logits is None else soft_embeddings(small_model, logits)
    with torch.no_grad():
        packed = capped_logits(small_model, packed_hidden(small_model, clean, canvas, context, soft))
        for row in range(3):
            seen = clean[row : row + 1, : context[row]]
            decoded = small_model(
                input_ids=seen,
                decoder_input_ids=canvas[row : row + 1],
                self_conditioning_logits=None if logits is None else logits[row : row + 1],
                cache=DynamicCache(config=small_model.config.get_text_config()),
            ).logits
            encoded = small_model.model.encoder(input_ids=clean[row : row + 1]).last_hidden_state
            torch.testing.assert_close(packed[row : row + 1, 24:], decoded, atol=2e-5, rtol=1e-4)
            torch.testing.assert_close(
                packed[row : row + 1, :24], capped_logits(small_model, encoded), atol=2e-5, rtol=1e-4
            )


def test_gradients_equal_transformers(small_model: DiffusionGemmaForBlockDiffusion) -> None:
    clean, canvas = torch.randint(1, 512, (1, 10)), torch.randint(0, 512, (1, 32))
    context = torch.tensor([10])
    weight = small_model.model.decoder.layers[1].mlp.up_proj.weight

    def gradient(loss: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.autograd.grad(loss, weight)[0]
        return result

    hidden = packed_hidden(small_model, clean, canvas, context)
    ours = gradient(capped_logits(small_model, hidden[:, 10:]).logsumexp(-1).sum())
    cache = DynamicCache(config=small_model.config.get_text_config())
    theirs = gradient(small_model(input_ids=clean, decoder_input_ids=canvas, cache=cache).logits.logsumexp(-1).sum())
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-3)


def test_a_new_model_is_the_seeds_and_leaves_the_global_random_state_alone(small_size: ModelSize) -> None:
    torch.manual_seed(3)
    before = torch.rand(1)
    torch.manual_seed(3)
    one, two, other = new_model(small_size, 1), new_model(small_size, 1), new_model(small_size, 2)
    assert torch.equal(torch.rand(1), before)
    assert torch.equal(one.lm_head.weight, two.lm_head.weight)
    assert not torch.equal(one.lm_head.weight, other.lm_head.weight)
    assert one.lm_head.weight is one.model.decoder.embed_tokens.weight
    assert one.lm_head.weight[PAD_ID].abs().sum() == 0
    assert one.generation_config.eos_token_id == list(END_IDS)


def test_the_shipped_size_fits() -> None:
    model = new_model(ModelSize())
    assert sum(p.numel() for p in model.parameters()) * 4 < 25e6
