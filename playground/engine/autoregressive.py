"""The same weights, one token at a time: the encoder with its causal mask and the head, as a generator of events."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch

from playground.engine import answers, prefill
from playground.engine.clock import Clock
from playground.engine.models import Model
from playground.engine.parameters import DecodingInForce
from playground.engine.prompts import Prompt
from playground.engine.steering import Cancelled, Steering
from playground.errors import PlaygroundError
from playground.events import Event, Token
from playground.recipe import Recipe, SetDecoding
from playground.sampling import draws, schedule
from playground.sampling.statistics import rounded, summarise
from playground.sampling.truncation import truncate


@dataclass
class Autoregressive:
    """One autoregressive run; iterate over `events`. `ids` and `made` grow with it."""

    model: Model
    recipe: Recipe
    steering: Steering
    prompt: Prompt
    ids: list[int] = field(default_factory=list)
    reused: int = 0
    """Tokens of the prompt that an earlier run had encoded."""

    def __post_init__(self) -> None:
        self.in_force = DecodingInForce(self.recipe, self.steering)
        self._clock = Clock()

    @property
    def made(self) -> list[SetDecoding]:
        """The edits made while the run was going on."""
        return list(self.in_force.made)

    def events(self) -> Iterator[Event]:
        """One pass of the model for each event. Raises `Cancelled` and whatever the model raises."""
        prefilled = yield from prefill.read(self.model, self.prompt, self._clock, self._check_cancelled)
        cache, logits, self.reused = prefilled.cache, prefilled.logits, prefilled.reused
        growing = answers.Apart(self.model.channel, self.model.decode)
        for index in range(self.recipe.max_new_tokens):
            self._check_cancelled()
            edits = self.in_force.before(index)
            decoding = self.in_force.decoding
            with self._clock.running():
                if index > 0:
                    logits = self.model.encode_pass(cache, self.ids[-1:])  # (V,)
                # 1. Temper; greedy decoding leaves the distribution as it is.
                greedy = decoding.temperature == 0
                if not greedy:
                    logits = schedule.tempered(logits, decoding.temperature)
                # 2. Truncate, then draw. Entropy and logprob are of the distribution before truncation.
                truncated = logits if greedy else truncate(logits, decoding.top_k, decoding.top_p)
                uniform = draws.uniforms(self.recipe.seed, 0, index, "token", 1)
                whole = summarise(logits[None], uniform).on_host()
                drawn = whole if truncated is logits else summarise(truncated[None], uniform, 1).on_host()
                token = int(drawn.predicted if greedy else drawn.sampled)
                logprob = float(logits.to(torch.float64).log_softmax(dim=-1)[token])
                entropy = float(whole.entropy)
            if not torch.isfinite(whole.entropy).all():
                raise PlaygroundError("bad_logits", f"The model's logits at token {index} are no distribution.")
            self.ids.append(token)
            gained = growing.add([token] if token not in self.model.end_ids else [])
            top_ids = whole.top_ids[0].tolist()
            yield Token(
                index=index,
                id=token,
                temperature=decoding.temperature,
                entropy=entropy,
                logprob=logprob,
                ms=self._clock.last_ms,
                device_ms=self._clock.total_ms,
                text=gained.text,
                thought=gained.thought,
                edits=edits,
                texts=self.model.pieces([token]),
                top_ids=top_ids,
                top_probabilities=rounded(whole.top_probabilities[0].tolist()),
                top_texts=self.model.pieces(top_ids),
            )
            if token in self.model.end_ids:
                return

    def _check_cancelled(self) -> None:
        if self.steering.cancelled:
            raise Cancelled
