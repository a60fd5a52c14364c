"""A sweep as the page shows it: its settings, each against the released defaults and on the front or not."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from playground.lab.cells import Setting, sampler_of
from playground.lab.cells import settings as all_settings
from playground.lab.results import Row
from playground.lab.spec import SweepSpec
from playground.lab.summary import Line, Outcomes, agreeing, difference, lines, name_of, outcomes, pareto, slowest
from playground.parameters import EntropyBoundSampler

USUAL = EntropyBoundSampler()
"""The released sampler: bound 0.1, temperature 0.8 to 0.4, at most 48 steps."""


def settings(spec: SweepSpec, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """A line for each setting that has runs, in the spec's order: the figures of `Line`, and

    usual: whether its sampler is the released one. front: whether no other setting is at least as right and as fast,
    and better in one. against: how much more often it is right than the released sampler on the same questions and
    seeds (mean difference, its standard error, pairs), None without such pairs. agreement: where nothing tells right
    from wrong, the share of answers that are those of the released sampler (of the slowest setting where there is
    none), with its interval; then the front is made of it.
    """
    order = {name_of(setting): at for at, setting in enumerate(all_settings(spec))}
    found = sorted(lines(rows), key=lambda line: order.get(name_of(line.setting), len(order)))
    usual = released(spec, found)
    agreement = _agreement(rows, found, usual)
    measured = agreement or {name_of(line.setting): line for line in found}
    told = [line for line in measured.values() if line.accuracy is not None and line.tokens_per_forward is not None]
    front = {name_of(line.setting) for line in pareto(told, "tokens_per_forward", more=True)}
    right = outcomes(rows)
    return [
        asdict(line)
        | {
            "accuracy": line.accuracy,
            "usual": line.setting == usual,
            "front": name_of(line.setting) in front,
            "against": _against(right, line.setting, usual),
            "agreement": _share(agreement.get(name_of(line.setting))),
        }
        for line in found
    ]


def _agreement(rows: Sequence[Row], found: Sequence[Line], usual: Setting | None) -> dict[str, Line]:
    reference = usual if usual is not None else slowest(found)
    if reference is None or any(line.told for line in found):
        return {}
    return {name_of(line.setting): line for line in lines(agreeing(rows, reference))}


def _share(line: Line | None) -> dict[str, Any] | None:
    if line is None or line.accuracy is None:
        return None
    return {"share": line.accuracy, "low": line.low, "high": line.high, "pairs": line.told}


def released(spec: SweepSpec, found: Sequence[Line]) -> Setting | None:
    """The setting that is the released sampler; None where there is none."""
    if spec.recipe.get("mode", "diffusion") != "diffusion":
        return None
    return next((line.setting for line in found if sampler_of(spec, line.setting) == USUAL), None)


def _against(right: dict[str, Outcomes], setting: Setting, usual: Setting | None) -> dict[str, Any] | None:
    if usual is None or setting == usual:
        return None
    try:
        mean, error, pairs = difference(right.get(name_of(setting), {}), right.get(name_of(usual), {}))
    except ValueError:
        return None
    return {"difference": mean, "error": error, "pairs": pairs}
