"""Entry of the web app, and of a Space: settings → create_app → serve."""

import json
import os
import socket
from typing import Any

from playground.errors import ModelError
from playground.settings import Settings
from playground.web.app import real_engine
from playground.web.loans import Loans
from playground.web.server import give_up, read_settings, serve
from playground.web.site import Engine

LARGE = "google/diffusiongemma-26B-A4B-it"
LARGE_BYTES = 56e9
"""What the large model takes on a GPU in bfloat16, with room for runs."""

LOAN_SECONDS = 120
"""How long a run may have a GPU that is lent for it; a visitor's quota pays for what it took."""


def page(settings: Settings) -> tuple[Any, str]:
    """The Gradio page, imported late: the address is taken before Gradio is."""
    from playground.ui.page import build

    return build(settings)


def for_space(settings: Settings) -> Settings:
    """In a Space: all interfaces, and the Space's own name as an origin, since its proxy may ask for another host.

    Where nobody chose a model, the large one, if its GPU is there.
    """
    if not os.environ.get("SPACE_ID"):
        return settings
    changes: dict[str, Any] = {}
    if "host" not in settings.model_fields_set:
        changes["host"] = "0.0.0.0"
    if "model" not in settings.model_fields_set and has_room(settings):
        changes["model"] = LARGE
    if name := os.environ.get("SPACE_HOST"):
        changes["allowed_origins"] = (*settings.allowed_origins, f"https://{name}")
    return settings.model_copy(update=changes)


def has_room(settings: Settings) -> bool:
    """Whether there is a GPU for the large model: lent for each run, or with enough free memory."""
    if lends_gpu():
        return True  # torch is not asked: `spaces` has to be imported before it
    import torch

    if settings.device == "cpu" or not torch.cuda.is_available():
        return False
    devices = range(torch.cuda.device_count()) if settings.device_map != "one" else range(1)
    free = sum(torch.cuda.mem_get_info(device)[0] for device in devices)
    return bool(free >= LARGE_BYTES)


def lends_gpu() -> bool:
    """Whether this is ZeroGPU."""
    return os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")


def serve_on_loan(settings: Settings) -> None:
    """On ZeroGPU: the model is here before anything is served, and workers with a GPU are forked from this process."""
    import spaces  # before torch: without a loan it stands in for CUDA
    from gradio import Blocks, Request

    from playground.engine import models
    from playground.ui.page import build

    try:
        model = models.load(settings)
    except ModelError as error:
        give_up(error.message)
    real = real_engine()
    engine = Engine(lambda *_: model, real.prepare, real.events)
    loans = Loans(model, engine, spaces.GPU(duration=LOAN_SECONDS))
    with Blocks(analytics_enabled=False) as nothing:
        pass
    # ZeroGPU takes over the model's weights when something is launched; the page has a server of its own.
    nothing.launch(
        server_name="127.0.0.1", server_port=free_port(), prevent_thread_lock=True, quiet=True, ssr_mode=False
    )

    async def lend(text: str, request: Request) -> Any:
        async for answer in loans.ask(text, request.client.host if request.client else "unknown"):
            yield json.dumps(answer)

    settings = settings.model_copy(update={"max_sweep_runs": 0})  # a sweep has nobody's account to go on
    serve(settings, lambda settings: build(settings, lend), engine, loans)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def main() -> None:
    """Serve with the settings of the environment."""
    if os.environ.get("SPACE_ID"):  # everyone comes through the Space's proxy, which says who they are
        os.environ.setdefault("FORWARDED_ALLOW_IPS", "*")
    settings = for_space(read_settings())
    if lends_gpu():
        serve_on_loan(settings)
    else:
        serve(settings, page)


if __name__ == "__main__":
    main()
