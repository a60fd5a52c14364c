"""What is wanted of a run that is going on, done."""

from pydantic import ValidationError

from playground.errors import PlaygroundError
from playground.web import mistakes
from playground.web.messages import Cancel, Pace, Pause, Resume, Steered, Update
from playground.web.runs import Run


def steer(run: Run | None, message: Steered) -> None:
    """Do what somebody says who may. Raises `PlaygroundError`.

    run: none where it has ended and is forgotten; ending or resuming what has ended is no mistake.
    """
    if run is None or run.finished:
        if isinstance(message, Cancel | Resume):
            return
        raise PlaygroundError("finished", "The run has already finished.", "run")
    match message:
        case Update():
            _update(run, message)
        case Pause():
            run.turn.pause()
        case Resume():
            run.turn.resume()
        case Cancel():
            run.turn.cancel()
        case Pace():
            run.turn.pace(message.steps_per_second)


def _update(run: Run, message: Update) -> None:
    name = "sampler" if message.sampler is not None else "decoding"
    change = message.sampler or message.decoding
    assert change is not None
    try:
        run.steering.change(change)
    except ValidationError as error:
        _, sentence = mistakes.explain(error, {}, {}, (name,))
        raise PlaygroundError("bad_request", sentence, name) from None
    except ValueError as error:
        raise PlaygroundError("bad_request", f"{error}.", name) from None
