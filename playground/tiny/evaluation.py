"""How good the model is: held-out instances of every family, in both modes, each answer checked exactly."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Any

from playground import loops
from playground.metrics import effective_denoising_steps, tokens_per_forward
from playground.tiny.answers import Mode, Outcome, Runner
from playground.tiny.codec import TextCodec
from playground.tiny.prompting import Reply, read_reply
from playground.tiny.tasks import FAMILIES, Task, check, held_out_set

Z_95 = 1.959963984540054


def wilson_interval(right: int, total: int, z: float = Z_95) -> tuple[float, float]:
    """Wilson's score interval of a share (Wilson 1927); (0, 1) without observations."""
    if not total:
        return 0.0, 1.0
    share = right / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    reach = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return max(0.0, middle - reach), min(1.0, middle + reach)


@dataclass(frozen=True, slots=True)
class Answer:
    """One checked answer: the task, what came out, how it reads, if it is right, if it repeats itself to its limit."""

    task: Task
    outcome: Outcome
    reply: Reply
    right: bool
    loop: bool


@dataclass(frozen=True, slots=True)
class FamilyResult:
    """A family's figures in one mode.

    right of total answers, accuracy with its 95 % interval (Wilson). similarity: mean likeness to the reference answer
    (difflib's ratio, from 0 to 1), which moves long before answers are right. effective_denoising_steps and
    tokens_per_forward are means over answers of the report's Equations 9 and 10; tokens: mean length, the end included.
    revised: share of right answers with a token that was accepted and then committed as another. closed: share of
    thoughts that were closed, None where nothing was thought. stops: how runs ended; canvas_stops: how canvases did.
    """

    family: str
    mode: Mode
    right: int
    total: int
    accuracy: float
    low: float
    high: float
    similarity: float
    effective_denoising_steps: float | None
    tokens_per_forward: float
    tokens: float
    revised: float | None
    closed: float | None
    loops: int
    stops: dict[str, int]
    canvas_stops: dict[str, int]


def answer_tasks(tasks: Sequence[Task], runner: Runner, codec: TextCodec, batch_size: int = 64) -> list[Answer]:
    """Run and check the tasks, a batch at a time."""
    answers: list[Answer] = []
    for start in range(0, len(tasks), batch_size):
        part = tasks[start : start + batch_size]
        for task, outcome in zip(part, runner.run(part), strict=True):
            reply = read_reply(outcome.ids, codec.decode)
            right = reply.ended and reply.closed and check(task, reply.text)
            loop = outcome.stop_reason != "end_of_turn" and _repeats(task, outcome, codec)
            answers.append(Answer(task, outcome, reply, right, loop))
    return answers


def _repeats(task: Task, outcome: Outcome, codec: TextCodec) -> bool:
    texts = {token: codec.decode([token]) for token in set(outcome.ids)}
    return loops.unasked(outcome.ids, texts, task.prompt) is not None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _likeness(answer: Answer) -> float:
    return SequenceMatcher(None, answer.reply.text, answer.task.answer, autojunk=False).ratio()


def summarise(family: str, mode: Mode, answers: Sequence[Answer]) -> FamilyResult:
    """A family's figures from its answers.

    Raises:
        ValueError: without answers.
    """
    if not answers:
        raise ValueError("no answers")
    right = sum(answer.right for answer in answers)
    low, high = wilson_interval(right, len(answers))
    diffusion = mode == "diffusion"
    outcomes = [answer.outcome for answer in answers]
    thoughts = [answer.reply.closed for answer in answers if answer.reply.thought is not None]
    return FamilyResult(
        family=family,
        mode=mode,
        right=right,
        total=len(answers),
        accuracy=right / len(answers),
        low=low,
        high=high,
        similarity=sum(_likeness(answer) for answer in answers) / len(answers),
        effective_denoising_steps=_mean(
            effective_denoising_steps(o.canvas_steps, o.canvas_tokens) if diffusion else None for o in outcomes
        ),
        tokens_per_forward=_mean(
            tokens_per_forward(o.canvas_steps, o.canvas_tokens) if diffusion else 1.0 for o in outcomes
        )
        or 0.0,
        tokens=sum(len(o.ids) for o in outcomes) / len(answers),
        revised=_mean(float(a.outcome.revised > 0) for a in answers if a.right) if diffusion else None,
        closed=_mean(map(float, thoughts)),
        loops=sum(answer.loop for answer in answers),
        stops=dict(Counter(o.stop_reason for o in outcomes)),
        canvas_stops=dict(Counter(stop for o in outcomes for stop in o.canvas_stops)),
    )


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All families in all modes that were run."""

    results: list[FamilyResult]

    def macro(self, mode: Mode) -> float:
        """Mean accuracy over families."""
        return _mean(r.accuracy for r in self.results if r.mode == mode) or 0.0

    def macro_steps(self) -> float:
        """Mean over families of the effective denoising steps."""
        return _mean(r.effective_denoising_steps for r in self.results if r.mode == "diffusion") or 0.0

    def as_json(self) -> dict[str, Any]:
        """Plain data for scripts."""
        modes: list[Mode] = sorted({r.mode for r in self.results})
        return {
            "macro_accuracy": {mode: self.macro(mode) for mode in modes},
            "macro_effective_denoising_steps": self.macro_steps(),
            "families": [asdict(result) for result in self.results],
        }


def evaluate(
    runners: Sequence[Runner],
    codec: TextCodec,
    *,
    count: int = 200,
    families: Sequence[str] | None = None,
    seed: int = 0,
    batch_size: int = 64,
    on_result: Callable[[FamilyResult, list[Answer]], None] | None = None,
) -> Evaluation:
    """Evaluate on `count` held-out instances a family.

    Args:
        runners: one for each mode (or sampler) to be measured; all get the same instances.
        codec: the model's tokenizer.
        count: instances a family.
        families: which; all of them by default.
        seed: of the instances.
        batch_size: answers at a time.
        on_result: called with each family's figures and answers as soon as they are there.

    Raises:
        KeyError: for a family that does not exist.
    """
    results: list[FamilyResult] = []
    for family in families if families is not None else list(FAMILIES):
        tasks = held_out_set(family, count, seed)
        for runner in runners:
            answers = answer_tasks(tasks, runner, codec, batch_size)
            result = summarise(family, runner.mode, answers)
            results.append(result)
            if on_result is not None:
                on_result(result, answers)
    return Evaluation(results)
