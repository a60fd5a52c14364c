"""The check of an autoregressive run: token by token, each pass fed the token that was recorded before it."""

import torch
from torch import Tensor

from playground.engine import answers
from playground.engine.margins import Margins
from playground.engine.models import Model
from playground.engine.parameters import DecodingInForce
from playground.engine.prompts import Prompt
from playground.engine.recorded import DoesNotFollow, Recorded, expect, expect_close
from playground.engine.steering import Steering
from playground.engine.verify_prefill import CLOCK_MS, check_prefill
from playground.events import Error, RunFinished, Token
from playground.parameters import Decoding
from playground.recipe import Recipe
from playground.sampling import draws, schedule
from playground.sampling.statistics import Statistics, rounded, summarise
from playground.sampling.truncation import truncate


class TokensCheck:
    """Follows the events of an autoregressive run; `ids`, `passes`, `differing` and `largest` grow with it."""

    def __init__(self, model: Model, recipe: Recipe, prompt: Prompt, recorded: Recorded, margins: Margins):
        self.ids: list[int] = []
        self.passes = 0
        self.differing = 0
        self.largest = 0.0
        self._model = model
        self._recipe = recipe
        self._prompt = prompt
        self._recorded = recorded
        self._margins = margins
        self._in_force = DecodingInForce(recipe, Steering(recipe))
        self._growing = answers.Apart(model.channel, model.decode)
        self._prefill_ms = 0.0
        self._device_ms: float | None = None

    def run(self) -> bool:
        """Whether the run came to its own end; false where it was cancelled or failed. Raises `DoesNotFollow`."""
        begun = check_prefill(self._model, self._prompt, self._recorded)
        if begun is None:
            return False
        cache, logits = begun[0].cache, begun[0].logits
        self._prefill_ms = begun[1]
        for index in range(self._recipe.max_new_tokens):
            if isinstance(self._recorded.next, RunFinished | Error):
                return False
            edits = self._in_force.before(index)
            if index > 0:
                logits = self._model.encode_pass(cache, self.ids[-1:])  # (V,)
            self.passes += 1
            event = self._recorded.take(Token, "the turn has not ended, nor has the run all its tokens")
            expect(event, "index", index)
            expect(event, "edits", edits)
            self._check_token(event, logits, self._in_force.decoding)
            self._check_words(event)
            self.ids.append(event.id)
            if event.id in self._model.end_ids:
                return True
        return True

    def _check_token(self, event: Token, logits: Tensor, decoding: Decoding) -> None:
        margins = self._margins
        expect(event, "temperature", decoding.temperature)
        if not 0 <= event.id < self._model.vocab_size:
            raise DoesNotFollow(event, "id", f"it is {event.id}, not a token of {self._model.vocab_size}")
        greedy = decoding.temperature == 0
        if not greedy:
            logits = schedule.tempered(logits, decoding.temperature)
        uniform = draws.uniforms(self._recipe.seed, 0, event.index, "token", 1)
        whole = summarise(logits[None], uniform)
        truncated = logits if greedy else truncate(logits, decoding.top_k, decoding.top_p)
        drawn = whole if truncated is logits else summarise(truncated[None], uniform, 1)
        token = int(drawn.predicted if greedy else drawn.sampled)
        if token != event.id:
            close = (
                margins.may_predict(logits, event.id)
                if greedy
                else margins.may_draw_truncated(logits, decoding.top_k, decoding.top_p, float(uniform), event.id)
            )
            if not close:
                raise DoesNotFollow(event, "id", f"it is {event.id} where the model gives {token}")
            self.differing += 1
        for name, ours in (
            ("entropy", float(whole.entropy)),
            ("logprob", float(logits.to(torch.float64).log_softmax(dim=-1)[event.id])),
        ):
            expect_close(event, name, ours, margins.nats)
            self.largest = max(self.largest, abs(getattr(event, name) - ours))
        self._check_alternatives(event, logits, whole)

    def _check_alternatives(self, event: Token, logits: Tensor, whole: Statistics) -> None:
        if event.top_ids is None or event.top_probabilities is None:
            return
        ids, shares = whole.top_ids[0].tolist(), rounded(whole.top_probabilities[0].tolist())
        most = self._model.vocab_size
        in_vocabulary = all(0 <= token < most for token in event.top_ids)
        if event.top_ids != ids and not (in_vocabulary and self._margins.may_rank(logits, event.top_ids)):
            expect(event, "top_ids", ids)
        if len(event.top_probabilities) != len(shares) or not all(
            map(self._margins.same, event.top_probabilities, shares)
        ):
            expect(event, "top_probabilities", shares)
        if event.top_texts is not None:
            expect(event, "top_texts", self._model.pieces(event.top_ids))

    def _check_words(self, event: Token) -> None:
        """Text and clock."""
        gained = self._growing.add([event.id] if event.id not in self._model.end_ids else [])
        expect(event, "text", gained.text)
        expect(event, "thought", gained.thought)
        expect(event, "texts", self._model.pieces([event.id]))
        if not event.ms >= 0:
            raise DoesNotFollow(event, "ms", f"it is {event.ms!r}")
        if self._device_ms is not None:
            expect_close(event, "device_ms", self._device_ms + event.ms, CLOCK_MS)
        elif not event.device_ms >= self._prefill_ms + event.ms - CLOCK_MS:
            own = f"the token's own {event.ms!r}" if not self._prefill_ms else "the prompt's and the token's own"
            raise DoesNotFollow(event, "device_ms", f"it is {event.device_ms!r}, less than {own}")
        self._device_ms = event.device_ms
