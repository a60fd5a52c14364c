"""A stand-in for the `spaces` package of ZeroGPU: forks a worker for each loan, and pickles what goes in and out.

As there, a loan needs Gradio's request, to whose account it goes, and `launch()` must have been called before.
"""

import multiprocessing
import os
import pickle
from collections.abc import Callable, Iterator
from functools import partial, wraps
from multiprocessing.connection import Connection
from typing import Any

import gradio as gr
from gradio.context import LocalContext

launched = False
_launch = gr.Blocks.launch


def _note_launch(*args: Any, **kwargs: Any) -> Any:
    global launched
    launched = True
    return _launch(*args, **kwargs)


gr.Blocks.launch = _note_launch


def GPU(task: Any = None, *, duration: float | None = None) -> Any:
    """Have a generator run in a forked worker."""
    if task is None:
        return partial(GPU, duration=duration)

    @wraps(task)
    def lent(*args: Any) -> Iterator[Any]:
        if not launched:
            raise RuntimeError("launch() was not called")
        if LocalContext.request.get(None) is None:
            raise RuntimeError("there is no request whose account the loan could go on")
        if path := os.environ.get("STANDIN_LOG"):
            with open(path, "a") as notes:
                notes.write(f"{duration}\n")
        yield from _forked(task, pickle.dumps(args))

    return lent


def _forked(task: Callable[..., Iterator[Any]], arguments: bytes) -> Iterator[Any]:
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    worker = fork.Process(target=_work, args=(task, arguments, sender), daemon=True)
    worker.start()
    sender.close()
    try:
        while True:
            try:
                kind, value = pickle.loads(receiver.recv_bytes())
            except EOFError:
                raise RuntimeError("GPU task aborted") from None
            if kind == "error":
                raise RuntimeError(value)
            if kind == "end":
                return
            yield value
    finally:
        worker.kill()  # it has inherited the server's way with SIGTERM
        worker.join()
        receiver.close()


def _work(task: Callable[..., Iterator[Any]], arguments: bytes, sender: Connection) -> None:
    try:
        for value in task(*pickle.loads(arguments)):
            sender.send_bytes(pickle.dumps(("value", value)))
        last = ("end", None)
    except Exception as error:
        last = ("error", type(error).__name__)
    sender.send_bytes(pickle.dumps(last))
    os._exit(0)  # what was inherited is the parent's to close
