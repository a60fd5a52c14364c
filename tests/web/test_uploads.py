"""Uploads over HTTP: what is taken and what is not, and a prompt of a picture and a long file over the socket."""

import io
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from PIL import Image
from starlette.testclient import TestClient

from playground.engine import models, runs
from playground.settings import Settings
from playground.web.app import create_app
from playground.web.site import Engine
from tests import released
from tests.web.fake import Fake, recipe
from tests.web.live import PATIENCE, serving


@pytest.fixture
def http(fake: Fake) -> Iterator[TestClient]:
    with TestClient(create_app(Settings(upload_bytes=5000, max_pixels=10_000), fake.engine)) as client:
        yield client


def picture(width: int = 40, height: int = 30) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(file, "PNG")
    return file.getvalue()


def test_a_picture_and_a_text_file_are_taken_and_told(http: TestClient) -> None:
    answer = http.post("/api/uploads", content=picture())
    told = answer.json()
    assert (answer.status_code, told["kind"], told["width"], told["height"]) == (200, "image", 40, 30)
    assert told["thumbnail"].startswith("data:image/jpeg;base64,")
    assert http.get(f"/api/uploads/{told['sha256']}").json() == told
    assert http.post("/api/uploads", content=picture()).json() == told
    text = http.post("/api/uploads", content="grün".encode()).json()
    assert (text["kind"], text["characters"], text["bytes"]) == ("file", 4, 5)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\x00\x01", "neither a picture"),
        (b"", "it is empty"),
        (b"x" * 5001, "at most 5,000 are allowed"),
        (picture(200, 100), "20,000 pixels"),
    ],
)
def test_what_is_not_taken_gets_a_sentence(http: TestClient, content: bytes, says: str) -> None:
    answer = http.post("/api/uploads", content=content)
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (422, "bad_upload", "upload")
    assert says in answer.json()["message"]


def test_the_body_is_not_read_beyond_the_limit(http: TestClient) -> None:
    read = 0

    def endless() -> Iterator[bytes]:
        nonlocal read
        for _ in range(1000):
            read += 1
            yield b"x" * 4000

    assert http.post("/api/uploads", content=endless()).json()["code"] == "bad_upload"


def test_another_site_may_not_upload_and_nobody_too_often(http: TestClient) -> None:
    refused = http.post("/api/uploads", content=picture(), headers={"Origin": "https://elsewhere.example"})
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    codes = [http.post("/api/uploads", content=b"words").status_code for _ in range(31)]
    assert codes == [200] * 30 + [503]


def test_what_is_unknown_is_said(http: TestClient) -> None:
    answer = http.get(f"/api/uploads/{'0' * 64}")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_upload")
    assert http.get("/api/uploads/x").status_code == 422


async def test_a_prompt_of_a_picture_and_a_long_file(tmp_path: Path) -> None:
    model = models.load(Settings(model=str(released.save(tmp_path / "small")), device="cpu"))
    engine = Engine(lambda *_: model, runs.prepare, runs.events)
    async with serving(engine, max_frame_bytes=4096) as live, live.connect() as client:
        async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as http:
            url = f"http://{live.address}/api/uploads"
            told = [(await http.post(url, content=content)).json() for content in (picture(), b"word " * 1000)]
        parts = [{"type": one["kind"], "sha256": one["sha256"]} for one in told]
        asked = recipe(messages=[{"role": "user", "content": [*parts, {"type": "text", "text": "Why?"}]}])
        await client.start(asked | {"max_new_tokens": 32, "sampler": {"max_denoising_steps": 2}, "model": None})
        events = sorted(await client.follow(), key=lambda event: event["seq"])
        missing = {"role": "user", "content": [{"type": "image", "sha256": "0" * 64}]}
        await client.say("start", recipe={"messages": [missing]}, ref=1)
        refused = await client.hear()
    assert events[0]["pictures"][0] | told[0] == told[0] | {"tokens": events[0]["pictures"][0]["tokens"]}
    assert [event["tokens"] for event in events if event["type"] == "prefill"] == [512 * part for part in range(1, 10)]
    assert events[-1]["stop_reason"] in ("end_of_turn", "max_new_tokens")
    assert events[-1]["recipe"]["messages"] == asked["messages"]
    assert (refused["code"], refused["field"]) == ("unknown_upload", "recipe.messages")
