from playground import events
from playground.terminal.lane import Lane
from tests.terminal import runs


def lane_after(count: int) -> Lane:
    lane = Lane()
    for event in runs.whole()[:count]:
        lane.apply(event)
    return lane


def marks(lane: Lane) -> list[str]:
    return [cell.mark for cell in lane.cells]


def test_a_new_canvas_shows_its_noise_as_draft() -> None:
    lane = lane_after(2)
    assert [cell.id for cell in lane.cells] == [3, 4, 5, 2]
    assert marks(lane) == ["draft"] * 4
    assert lane.draft == ""


def test_every_state_follows_from_two_steps() -> None:
    assert marks(lane_after(3)) == ["new", "new", "new", "draft"]
    lane = lane_after(4)
    assert marks(lane) == ["kept", "revised", "released", "new"]
    # accepted positions show the sampled token, the others the draft
    assert [cell.id for cell in lane.cells] == [1, 1, 2, 0]


def test_the_draft_ends_before_the_first_end_token() -> None:
    assert lane_after(4).draft == " red red fox"


def test_a_committed_token_unlike_the_last_accepted_one_is_revised() -> None:
    lane = Lane()
    for event in [
        runs.started(),
        runs.canvas_started(),
        runs.step(1, [1, 2, 1, 0], [1, 2, 1, 0], "1001"),
        runs.committed([2, 2, 1, 0], "fox fox red"),
    ]:
        lane.apply(event)
    assert marks(lane) == ["revised", "committed", "committed", "committed"]
    assert lane.committed
    assert lane.draft == ""


def test_states_start_anew_with_each_canvas() -> None:
    lane = lane_after(5)
    lane.apply(runs.canvas_started(1))
    lane.apply(runs.step(1, [1, 2, 1, 0], [1, 1, 1, 0], "1000", canvas=1, mean=0.2))
    assert marks(lane) == ["new", "draft", "draft", "draft"]
    assert lane.entropies == [[1.0, 0.1], [0.2]]
    assert not lane.committed


def test_a_token_without_text_is_shown_by_its_id() -> None:
    lane = Lane()
    lane.apply(events.CanvasStarted(canvas=0, canvas_ids=[77], device_ms=0, texts={}))
    assert lane.cells[0].text == "⟨77⟩"
