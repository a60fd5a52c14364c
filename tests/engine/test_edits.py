import pytest

from playground.engine import holes, runs
from playground.engine.models import Model
from playground.engine.steering import Steering
from playground.errors import PlaygroundError
from playground.events import CanvasCommitted, CanvasStarted, Event, RunFinished, Step
from playground.recipe import Edit, Infill, Message, Pin, Recipe, Renoise, SetCanvas, Unpin
from playground.settings import Settings


def run(
    model: Model, *edits: Edit, prompt: str = "Tell a story about a fox named Mia.", **fields: object
) -> list[Event]:
    recipe = Recipe(messages=[Message(role="user", content=prompt)], edits=list(edits), **{"seed": 4, **fields})
    events = list(runs.events(model, runs.prepare(model, recipe, Settings()), Steering(recipe)))
    assert isinstance(events[-1], RunFinished)
    assert events[-1].stop_reason == "end_of_turn"
    return events


def steps(events: list[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


def decisions(step: Step) -> dict[str, object]:
    return step.model_dump(exclude={"ms", "device_ms"})


def test_a_pin_holds_from_its_step_on_and_is_committed(embedded: Model) -> None:
    plain = run(embedded)
    events = run(embedded, Pin(canvas=0, step=4, start=5, text=" purple wolf"))
    ids = embedded.encode_text(" purple wolf")
    span = slice(5, 5 + len(ids))
    for before, after in zip(steps(plain)[:3], steps(events)[:3], strict=True):
        assert decisions(before) == decisions(after)
    assert steps(events)[3].fed_ids is not None
    assert steps(events)[3].fed_ids[span] == ids
    for step in steps(events)[3:]:
        assert step.pinned == [5 <= position < 5 + len(ids) for position in range(64)]
        assert not any(step.accepted[span])
        assert step.predicted[span] == step.sampled[span] == step.canvas_ids[span] == ids
        free = [entropy for entropy, pinned in zip(step.entropy, step.pinned, strict=True) if not pinned]
        assert step.mean_entropy == pytest.approx(sum(free) / len(free), rel=1e-9)
        assert step.fed_ids is None or step is steps(events)[3]
    committed = next(event for event in events if isinstance(event, CanvasCommitted))
    assert committed.ids[span] == ids
    assert " purple wolf" in events[-1].text


def test_the_budget_leaves_pinned_positions_out(embedded: Model) -> None:
    for step in steps(run(embedded, Pin(canvas=0, step=2, start=0, text="Once there was a"))):
        total, mask = 0.0, [False] * 64
        free = [position for position in range(64) if not (step.pinned and step.pinned[position])]
        for position in sorted(free, key=lambda position: (step.entropy[position], position)):
            mask[position] = total <= step.entropy_bound
            total += step.entropy[position]
        assert mask == step.accepted


def test_an_unpinned_position_is_free_again(embedded: Model) -> None:
    events = run(
        embedded,
        Pin(canvas=0, step=1, start=0, text="Once Tom"),
        Unpin(canvas=0, step=3, start=0, length=64),
    )
    started = next(event for event in events if isinstance(event, CanvasStarted))
    ids = embedded.encode_text("Once Tom")
    assert started.canvas_ids[: len(ids)] == ids
    assert started.edits == [Pin(canvas=0, step=1, start=0, text="Once Tom")]
    assert [step.pinned is not None for step in steps(events)[:4]] == [True, True, False, False]


def test_renoising_feeds_fresh_tokens_in_the_span_alone(embedded: Model) -> None:
    plain = run(embedded)
    events = run(embedded, Renoise(canvas=0, step=6, start=10, length=20))
    before = steps(plain)[4].canvas_ids
    fed = steps(events)[5].fed_ids
    assert fed is not None
    assert fed[:10] == before[:10]
    assert fed[30:] == before[30:]
    assert fed[10:30] != before[10:30]


@pytest.mark.parametrize("noise", [0.0, 0.5, 1.0])
def test_a_canvas_of_ones_own_is_corrupted_at_its_noise_level(embedded: Model, noise: float) -> None:
    text = "Mia was a clever fox who lived in the forest. One day Mia found a red key."
    ids = embedded.encode_text(text)
    events = run(embedded, SetCanvas(canvas=0, step=1, text=text, noise=noise))
    started = next(event for event in events if isinstance(event, CanvasStarted))
    same = sum(a == b for a, b in zip(started.canvas_ids, ids, strict=False)) / len(ids)
    assert same == pytest.approx(1 - noise, abs=0.25)
    assert started.pinned is None


def test_edits_apply_in_list_order(embedded: Model) -> None:
    pins = [Pin(canvas=0, step=1, start=0, text="Tom"), Pin(canvas=0, step=1, start=0, text="Ana")]
    for ordered in (pins, pins[::-1]):
        started = next(event for event in run(embedded, *ordered) if isinstance(event, CanvasStarted))
        assert started.canvas_ids[0] == embedded.encode_text(ordered[-1].text or "")[0]


def test_infill_leaves_the_text_around_the_holes_untouched(embedded: Model) -> None:
    text = "Once there was a ___{1} fox named Mia. One day Mia found a ___{2} on the ground."
    events = run(embedded, Infill(text=text))
    written = events[-1].text
    assert written.startswith("Once there was a")
    assert " fox named Mia. One day Mia found a" in written
    assert written.endswith(" on the ground.")
    assert steps(events)[0].pinned is not None
    assert steps(events)[0].pinned.count(False) == 3


def test_infill_goes_over_canvases(embedded: Model) -> None:
    text = "Mia was a fox. " * 14 + "The ___{2} end."
    events = run(embedded, Infill(text=text))
    assert len([event for event in events if isinstance(event, CanvasCommitted)]) == 2
    assert events[-1].text.startswith("Mia was a fox. " * 14 + "The")
    assert events[-1].text.endswith(" end.")


def test_all_pinned_is_confident_at_once(embedded: Model) -> None:
    ids = [*embedded.encode_text("4"), *[1] * 63]
    events = run(embedded, Pin(canvas=0, step=1, start=0, ids=ids))
    assert [step.mean_entropy for step in steps(events)] == [0, 0]
    assert events[-1].text == "4"


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (Pin(canvas=0, step=1, start=62, text="one two three four"), "reach over the canvas of 64"),
        (Pin(canvas=0, step=1, start=0, ids=[5000]), "vocabulary of 1024"),
        (Unpin(canvas=0, step=1, start=60, length=5), "reach over the canvas of 64"),
        (Renoise(canvas=0, step=1, start=64, length=1), "1 position from 64 on reaches over the canvas of 64"),
        (Infill(text="no hole at all"), "no hole"),
        (Infill(text="a ___{99} b"), "1 to 64"),
        (Infill(text="word " * 300 + "___"), "max_new_tokens gives 256"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused_by_number(embedded: Model, edit: Edit, says: str) -> None:
    recipe = Recipe(messages=[Message(role="user", content="Hi")], edits=[edit])
    with pytest.raises(PlaygroundError, match=says) as refusal:
        runs.prepare(embedded, recipe, Settings())
    assert refusal.value.field == "recipe.edits.0"


@pytest.mark.parametrize(
    ("text", "pins"),
    [
        ("a ___{2} b", [97, None, None, 32, 98]),
        ("___", [None] * 8),
        ("a___{1}", [97, None]),
        ("___{1}b", [None, 98]),
    ],
)
def test_holes(text: str, pins: list[int | None]) -> None:
    assert holes.pins(text, lambda part: list(part.encode())) == pins


@pytest.mark.parametrize("text", ["plain", "", "___{0}", "___{65}"])
def test_no_holes_or_wrong_ones(text: str) -> None:
    with pytest.raises(ValueError, match="hole"):
        holes.pins(text, lambda part: list(part.encode()))


@pytest.mark.parametrize("seed", range(6))
def test_no_end_is_drawn_before_pinned_text(embedded: Model, seed: int) -> None:
    written = run(embedded, Infill(text="The cat ___{8} the mat."), prompt="Fill it in.", seed=seed)[-1].text
    assert written.startswith("The cat")
    assert written.endswith(" the mat.")
    pinned = run(embedded, Pin(canvas=0, step=2, start=50, text=" very late"), prompt="Spell cat.", seed=seed)
    assert " very late" in pinned[-1].text


def test_two_infills_are_refused(embedded: Model) -> None:
    recipe = Recipe(messages=[Message(role="user", content="Hi")], edits=[Infill(text="a ___"), Infill(text="b ___")])
    with pytest.raises(PlaygroundError, match="only one") as refusal:
        runs.prepare(embedded, recipe, Settings())
    assert refusal.value.field == "recipe.edits.1"
