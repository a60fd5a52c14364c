import asyncio
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

import app as entry
from playground.settings import Settings
from playground.web.app import STATIC_PATH, create_app
from tests.web.fake import Fake, recipe


def small_page(_: Settings) -> tuple[Any, str]:
    with gr.Blocks(analytics_enabled=False) as blocks:
        gr.Markdown("hello")
    return blocks, "<!-- head -->"


def app_with_page(settings: Settings, fake: Fake) -> FastAPI:
    """Made within a loop: where there is none, Gradio makes one for each of its locks and never closes it."""

    async def make() -> FastAPI:
        return create_app(settings, fake.engine, small_page)

    return asyncio.run(make())


@pytest.fixture
def static(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package folder of its own, with a file in its `static`."""
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "main.js").write_text("export const one = 1;\n")
    (tmp_path / "web").mkdir()
    monkeypatch.setattr("playground.web.app.__file__", str(tmp_path / "web" / "app.py"))
    return tmp_path / "static"


def runs_whole(http: TestClient, path: str = "/ws") -> bool:
    with http.websocket_connect(path) as socket:
        socket.send_json({"type": "start", "recipe": recipe(steps=1)})
        run = socket.receive_json()["run"]
        while (event := socket.receive_json())["type"] != "run_finished":
            socket.send_json({"type": "ack", "run": run, "seq": event["seq"]})
    return True


@pytest.mark.parametrize("name", ["main.js", "plotly.min.js"])
def test_static_files_are_asked_about_each_time(fake: Fake, static: Path, name: str) -> None:
    with TestClient(create_app(Settings(), fake.engine)) as http:
        first = http.get(f"/{STATIC_PATH}/{name}")
        assert first.status_code == 200
        assert first.headers["cache-control"] == "no-cache"
        assert "/javascript" in first.headers["content-type"]
        etag = first.headers["etag"]
        again = http.get(f"/{STATIC_PATH}/{name}", headers={"If-None-Match": etag})
        assert again.status_code == 304
        assert again.headers["cache-control"] == "no-cache"
        if name == "main.js":
            (static / name).write_text("export const two = 22;\n")
            assert http.get(f"/{STATIC_PATH}/{name}", headers={"If-None-Match": etag}).status_code == 200


def test_files_outside_are_not_served(fake: Fake, static: Path) -> None:
    (static.parent / "secret.txt").write_text("secret")
    with TestClient(create_app(Settings(), fake.engine)) as http:
        for path in ("../secret.txt", "%2e%2e/secret.txt", "..%2fsecret.txt", "missing.js", ""):
            assert http.get(f"/{STATIC_PATH}/{path}").status_code == 404


@pytest.mark.usefixtures("static")
def test_the_page_stands_at_the_root_behind_all_routes(fake: Fake) -> None:
    with TestClient(app_with_page(Settings(), fake)) as http:
        assert "gradio" in http.get("/").text
        assert http.get("/health").json()["status"] in ("loading", "ready")
        assert http.get(f"/{STATIC_PATH}/main.js").status_code == 200
        assert http.get("/config").json()["components"]
        assert runs_whole(http)


def test_the_page_answers_before_the_model_is_there(fake: Fake) -> None:
    fake.loading.clear()
    with TestClient(app_with_page(Settings(), fake)) as http:
        assert http.get("/").status_code == 200
        assert http.get("/health").json()["status"] == "loading"
        fake.loading.set()


@pytest.mark.usefixtures("static")
@pytest.mark.parametrize("prefix", ["/lab/denoise", "lab/denoise/"])
@pytest.mark.parametrize("kept", [True, False], ids=["prefix kept", "prefix taken off"])
def test_a_prefix_is_served_whether_the_proxy_keeps_it_or_not(fake: Fake, prefix: str, kept: bool) -> None:
    with TestClient(app_with_page(Settings(root_path=prefix), fake)) as http:
        base = "/lab/denoise" if kept else ""
        page = http.get(f"{base}/")
        assert page.status_code == 200
        assert "/lab/denoise" in page.text
        assert http.get(f"{base}/{STATIC_PATH}/main.js").status_code == 200
        assert http.get(f"{base}/health").status_code == 200
        assert runs_whole(http, f"{base}/ws")


def test_closing_the_app_ends_its_runs(fake: Fake) -> None:
    app = create_app(Settings(), fake.engine)
    with TestClient(app) as http, http.websocket_connect("/ws") as socket:
        socket.send_json({"type": "start", "recipe": recipe(steps=1000), "steps_per_second": 1})
        run = app.state.site.runs.get(socket.receive_json()["run"])
    assert run.last_words.stop_reason == "cancelled"
    assert app.state.site.turns.going == 0


def test_in_a_space_all_interfaces_and_its_own_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACE_ID", "someone/denoise")
    monkeypatch.setenv("SPACE_HOST", "someone-denoise.hf.space")
    settings = entry.for_space(Settings())
    assert settings.host == "0.0.0.0"
    assert settings.allowed_origins == ("https://someone-denoise.hf.space",)
    assert entry.for_space(Settings(host="127.0.0.2")).host == "127.0.0.2"


def in_a_space(monkeypatch: pytest.MonkeyPatch, *free: float, lent: bool = False) -> None:
    """The environment of a Space whose GPUs have so many gigabytes free."""
    monkeypatch.setenv("SPACE_ID", "someone/denoise")
    monkeypatch.setenv("SPACES_ZERO_GPU", "true" if lent else "")
    monkeypatch.setattr("torch.cuda.is_available", lambda: bool(free))
    monkeypatch.setattr("torch.cuda.device_count", lambda: len(free))
    monkeypatch.setattr("torch.cuda.mem_get_info", lambda device: (free[device] * 1e9, 0))


@pytest.mark.parametrize(
    ("free", "lent", "given", "model"),
    [
        ((), False, {}, "embedded"),
        ((80,), False, {}, entry.LARGE),
        ((46,), False, {}, "embedded"),
        ((80,), False, {"device": "cpu"}, "embedded"),
        ((22, 22, 22, 22), False, {}, "embedded"),
        ((22, 22, 22, 22), False, {"device_map": "auto"}, entry.LARGE),
        ((), True, {}, entry.LARGE),
        ((80,), False, {"model": "embedded"}, "embedded"),
        ((), False, {"model": "someone/other"}, "someone/other"),
    ],
)
def test_a_space_takes_the_large_model_where_it_has_the_gpu(
    monkeypatch: pytest.MonkeyPatch, free: tuple[float, ...], lent: bool, given: dict[str, Any], model: str
) -> None:
    in_a_space(monkeypatch, *free, lent=lent)
    assert entry.for_space(Settings(**given)).model == model


def test_a_gpu_elsewhere_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    in_a_space(monkeypatch, 80)
    monkeypatch.delenv("SPACE_ID")
    assert entry.for_space(Settings()).model == "embedded"


def test_elsewhere_settings_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPACE_ID", raising=False)
    settings = Settings()
    assert entry.for_space(settings) is settings
