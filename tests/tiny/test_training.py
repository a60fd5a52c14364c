import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer, DiffusionGemmaForBlockDiffusion

from playground.tiny.batches import BatchSettings, batch_loader
from playground.tiny.codec import TextCodec
from playground.tiny.model import ModelSize
from playground.tiny.objective import training_losses
from playground.tiny.optimizer import Muon, Optimizer, orthogonalised
from playground.tiny.packed import packed_hidden
from playground.tiny.saving import load_model, load_trunk, save_trunk
from playground.tiny.schedule import Schedule
from playground.tiny.training import TrainingConfig, resolved, train


def test_orthogonalised_matrices_have_singular_values_near_one() -> None:
    matrices = torch.randn(3, 24, 40, generator=torch.Generator().manual_seed(0))
    for x in (matrices, matrices.mT):
        values = torch.linalg.svdvals(orthogonalised(x))
        assert values.min() > 0.4
        assert values.max() < 1.4


def test_muon_moves_both_matrices_of_a_stack_apart() -> None:
    stacked = torch.nn.Parameter(torch.zeros(1, 8, 6))
    stacked.grad = torch.randn(1, 8, 6)
    Muon([(stacked, 2)], weight_decay=0).step(0.1)
    for half in stacked.detach()[0].chunk(2):
        assert torch.linalg.svdvals(half).min() > 0.02


def test_schedule_warms_up_over_all_runs_and_decays_by_the_clock() -> None:
    schedule = Schedule(seconds=100, decay_share=0.4, warmup_steps=10)
    assert schedule.share(0, 0) == pytest.approx(0.1)
    assert schedule.share(500, 0) == 1
    assert schedule.share(500, 59.9) == 1
    assert schedule.share(500, 80) == pytest.approx(0.5)
    assert schedule.share(500, 100) == pytest.approx(0.02)
    assert not schedule.decaying(59)
    assert schedule.decaying(60)
    assert schedule.done(100)
    assert not Schedule(100, decay_share=0).decaying(99)


def _losses(model: DiffusionGemmaForBlockDiffusion, codec: TextCodec, seed: int) -> Any:
    batch = next(batch_loader(codec, BatchSettings(6, 32, seed=seed), 0))
    return training_losses(model, packed_hidden, batch, torch.Generator().manual_seed(seed))


def test_an_untrained_model_starts_near_uniform(
    small_model: DiffusionGemmaForBlockDiffusion, small_codec: TextCodec
) -> None:
    losses = _losses(small_model, small_codec, 0)
    assert losses.next_token.item() == pytest.approx(math.log(512), abs=1.5)
    assert losses.denoising.shape == losses.t.shape == (6,)
    assert torch.equal(losses.total, losses.denoising.mean() + 0.3 * losses.next_token)


def test_losses_repeat_for_a_seed_and_reach_every_trained_weight(
    small_model: DiffusionGemmaForBlockDiffusion, small_codec: TextCodec
) -> None:
    optimizer = Optimizer(small_model, 0.02, 0.003)
    one, two = _losses(small_model, small_codec, 1), _losses(small_model, small_codec, 1)
    assert torch.equal(one.total, two.total)
    one.total.backward()
    assert all(p.grad is not None and bool(p.grad.isfinite().all()) for p in optimizer.parameters)
    assert not any(p.requires_grad for n, p in small_model.named_parameters() if "vision" in n)


def _config(out: Path, size: ModelSize, **changes: Any) -> TrainingConfig:
    config = TrainingConfig(
        out=out, minutes=2, device="cpu", batch_size=8, processes=1, compile=False, bfloat16=False,
        report_every=5, quiet=True, size=size,
    )  # fmt: skip
    return replace(config, **changes)


@pytest.fixture(autouse=True)
def few_tokenizer_examples(monkeypatch: pytest.MonkeyPatch, small_tokenizer: Any) -> None:
    monkeypatch.setattr("playground.tiny.training.train_tokenizer", lambda **_: small_tokenizer)


def test_a_short_training_improves_and_leaves_a_loadable_folder(tmp_path: Path, small_size: ModelSize) -> None:
    result = train(_config(tmp_path, small_size, max_steps=30))
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert lines[-1]["denoising"] < 0.7 * lines[0]["denoising"]
    assert len(lines[-1]["by_noise"]) == 5
    assert result.steps == 30
    model, codec = load_model(result.model)
    assert model.config.canvas_length == small_size.canvas_length
    auto = AutoTokenizer.from_pretrained(result.model)
    assert auto("7 apples")["input_ids"] == codec.encode("7 apples")
    again = DiffusionGemmaForBlockDiffusion.from_pretrained(result.model)
    assert again.generation_config.eos_token_id == [1, 5]
    assert again.generation_config.pad_token_id == 0


def test_training_resumes_where_the_trunk_ends(tmp_path: Path, small_size: ModelSize) -> None:
    first = train(_config(tmp_path, small_size, max_steps=3))
    trunk = load_trunk(tmp_path)
    assert trunk is not None
    second = train(_config(tmp_path, small_size, max_steps=2))
    assert (first.steps, second.steps) == (3, 5)
    assert second.seconds > first.seconds
    fresh = train(_config(tmp_path, small_size, max_steps=1, resume=False))
    assert fresh.steps == 1


def test_the_decay_leaves_the_trunk_as_it_was(tmp_path: Path, small_size: ModelSize) -> None:
    result = train(_config(tmp_path, small_size, max_steps=6, decay_share=1.0))
    trunk = load_trunk(tmp_path)
    assert trunk is not None
    assert trunk["step"] == 1
    assert result.steps == 6


def test_a_trunk_of_another_size_is_refused(tmp_path: Path, small_size: ModelSize) -> None:
    train(_config(tmp_path, small_size, max_steps=1))
    with pytest.raises(ValueError, match="another size"):
        train(_config(tmp_path, replace(small_size, layers=4), max_steps=1))


def test_a_broken_save_keeps_the_last_trunk(tmp_path: Path) -> None:
    save_trunk(tmp_path, {"step": 1})
    with pytest.raises(AttributeError):
        save_trunk(tmp_path, {"step": lambda: 2})
    assert load_trunk(tmp_path) == {"step": 1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"minutes": 0}, "minutes must be positive"),
        ({"decay_share": 2.0}, "decay_share"),
        ({"device": "tpu"}, "no such device"),
        ({"batch_size": 7, "processes": 2}, "cannot be shared"),
    ],
)
def test_configurations_that_cannot_be_run(
    tmp_path: Path, small_size: ModelSize, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        resolved(_config(tmp_path, small_size, **changes))


def test_two_processes_train_together(tmp_path: Path, small_size: ModelSize) -> None:
    config = _config(tmp_path, small_size, max_steps=2, processes=2)
    assert train(config).steps == 2
