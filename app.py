"""Entry of the web app, and of a Space: settings → create_app → serve."""

import os
from typing import Any

from playground.settings import Settings
from playground.web.server import read_settings, serve


def page(settings: Settings) -> tuple[Any, str]:
    """The Gradio page, imported late: the address is taken before Gradio is."""
    from playground.ui.page import build

    return build(settings)


def for_space(settings: Settings) -> Settings:
    """In a Space: all interfaces, and the Space's own name as an origin, since its proxy may ask for another host."""
    if not os.environ.get("SPACE_ID"):
        return settings
    changes: dict[str, Any] = {}
    if "host" not in settings.model_fields_set:
        changes["host"] = "0.0.0.0"
    if name := os.environ.get("SPACE_HOST"):
        changes["allowed_origins"] = (*settings.allowed_origins, f"https://{name}")
    return settings.model_copy(update=changes)


def main() -> None:
    """Serve with the settings of the environment."""
    if os.environ.get("SPACE_ID"):  # everyone comes through the Space's proxy, which says who they are
        os.environ.setdefault("FORWARDED_ALLOW_IPS", "*")
    serve(for_space(read_settings()), page)


if __name__ == "__main__":
    main()
