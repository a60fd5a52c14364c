"""A sweep as the page shows it: its settings, each against the released defaults and on the front or not."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from playground.lab.cells import Setting, sampler_of
from playground.lab.cells import settings as all_settings
from playground.lab.results import Row
from playground.lab.spec import SweepSpec
from playground.lab.summary import Line, lines, paired, pareto
from playground.parameters import EntropyBoundSampler

USUAL = EntropyBoundSampler()
"""The released sampler: bound 0.1, temperature 0.8 to 0.4, at most 48 steps."""


def settings(spec: SweepSpec, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """A line for each setting that has runs, in the spec's order: the figures of `Line`, and

    usual: whether its sampler is the released one. front: whether no other setting is at least as right and as fast,
    and better in one. against: how much more often it is right than the released sampler on the same questions and
    seeds (mean difference, its standard error, pairs), None without such pairs.
    """
    order = {json.dumps(setting, sort_keys=True): at for at, setting in enumerate(all_settings(spec))}
    found = sorted(lines(rows), key=lambda line: order.get(json.dumps(line.setting, sort_keys=True), len(order)))
    usual = released(spec, found)
    told = [line for line in found if line.accuracy is not None and line.tokens_per_forward is not None]
    front = pareto(told, "tokens_per_forward", more=True)
    return [
        asdict(line)
        | {
            "accuracy": line.accuracy,
            "usual": line.setting == usual,
            "front": line in front,
            "against": _against(rows, line.setting, usual),
        }
        for line in found
    ]


def released(spec: SweepSpec, found: Sequence[Line]) -> Setting | None:
    """The setting that is the released sampler; None where there is none."""
    if spec.recipe.get("mode", "diffusion") != "diffusion":
        return None
    return next((line.setting for line in found if sampler_of(spec, line.setting) == USUAL), None)


def _against(rows: Sequence[Row], setting: Setting, usual: Setting | None) -> dict[str, Any] | None:
    if usual is None or setting == usual:
        return None
    try:
        difference, error, pairs = paired(rows, setting, usual)
    except ValueError:
        return None
    return {"difference": difference, "error": error, "pairs": pairs}
