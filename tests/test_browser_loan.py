"""The page on ZeroGPU, with a stand-in for `spaces` that forks and pickles."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import ROOT, serving
from tests.test_browser import LONG, SECONDS, STORY, SUM, events, finished, run
from tests.watching import cancel


@pytest.fixture(scope="module")
def loans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the stand-in notes each loan."""
    return tmp_path_factory.mktemp("loans") / "notes"


@pytest.fixture(scope="module")
def url(loans: Path) -> Iterator[str]:
    path = os.pathsep.join([str(ROOT / "tests" / "standin"), *filter(None, [os.environ.get("PYTHONPATH")])])
    with serving(SPACES_ZERO_GPU="true", PYTHONPATH=path, STANDIN_LOG=str(loans), PLAYGROUND_THREADS="1") as address:
        yield address


@pytest.fixture
def playground(page: Page, url: str) -> Iterator[Page]:
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.set_default_timeout(60 * SECONDS)
    page.goto(url)
    page.locator("#denoise[data-ready][data-model=ready]").wait_for()
    yield page
    assert wrong == []


def test_a_run_on_a_lent_gpu_is_shown_step_by_step(playground: Page, url: str, loans: Path) -> None:
    run(playground, SUM)
    finished(playground)
    log = events(playground, url)
    assert [event["seq"] for event in log] == list(range(len(log)))
    assert log[-1]["stop_reason"] == "end_of_turn"
    expect(playground.locator(".answer:visible .answer-text:visible")).to_have_text(log[-1]["text"])
    assert loans.read_text() == "120\n"
    run(playground, SUM)
    finished(playground)
    again = events(playground, url)
    assert again[0]["run"] != log[0]["run"]
    assert [event["predicted"] for event in again if event["type"] == "step"] == [
        event["predicted"] for event in log if event["type"] == "step"
    ]
    assert loans.read_text() == "120\n120\n"


def test_one_mode_after_the_other(playground: Page, url: str) -> None:
    playground.get_by_text("Side by side").click()
    run(playground, SUM)
    finished(playground)
    for mode in ("diffusion", "autoregressive"):
        assert events(playground, url, mode)[-1]["recipe"]["mode"] == mode


def test_a_wrong_recipe_is_refused_where_it_is_wrong(playground: Page) -> None:
    playground.locator("#prompt textarea").fill("")
    playground.locator("#run").click()
    expect(playground.locator("#ask .field-error")).to_contain_text("prompt is empty")
    expect(playground.locator("#denoise")).to_have_attribute("data-phase", "idle")


def test_a_run_is_cancelled(playground: Page, url: str) -> None:
    playground.locator("#max_new_tokens input[type=number]").fill("1024")
    playground.locator("#max_new_tokens input[type=number]").blur()
    playground.locator("#max_denoising_steps input[type=number]").fill("192")
    playground.locator("#max_denoising_steps input[type=number]").blur()
    playground.locator("#confidence_threshold input[type=number]").fill("0")
    playground.locator("#confidence_threshold input[type=number]").blur()
    run(playground, STORY)
    cancel(playground)
    playground.locator("#denoise[data-phase=idle]").wait_for(timeout=LONG)
    assert events(playground, url)[-1]["stop_reason"] == "cancelled"
