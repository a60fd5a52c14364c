"""A run in one HTML file, from disk and without a network: it plays, scrubs, inspects, and is harmless."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from playground.events import Event, adapter
from playground.trace.replay_page import page as page_of
from tests.conftest import ROOT

SECONDS = 1000
RECORDINGS = ROOT / "static" / "recordings"

HOSTILE = (
    "</script><script>window.caught='script'</script>",
    "<img src=x onerror=\"window.caught='img'\">",
    "${window.caught='template'}",
    "`${window.caught='backticks'}`",
    "\u2028window.caught='separator'\u2029",
    "]]><!--<script>window.caught='comment'",
    "javascript:window.caught='link'",
)

Opened = Callable[[list[Event]], Page]


def recorded(mode: str = "diffusion") -> list[Event]:
    lines = (RECORDINGS / f"{mode}.jsonl").read_bytes().splitlines()
    return [adapter.validate_json(line) for line in lines]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    """Opens a run's file without a network; nothing may be asked for or go wrong meanwhile."""
    wrong: list[str] = []
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    path = tmp_path / "a run.html"

    def open_run(events: list[Event]) -> Page:
        path.write_bytes(page_of(events))
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: wrong.append(request.url) if asks(request.url) else None)
        page.set_default_timeout(60 * SECONDS)
        page.goto(path.as_uri())
        page.locator("#denoise[data-ready]").wait_for()
        return page

    def asks(url: str) -> bool:
        return not url.startswith("data:") and url != path.as_uri()

    yield open_run
    context.close()
    assert wrong == []


def text(page: Page) -> str:
    return str(page.locator(".lane-text").inner_text())


def test_it_plays_to_the_end_and_shows_the_answer(opened: Opened) -> None:
    events = recorded()
    page = opened(events)
    page.locator(".speed").select_option("null")
    timeline = page.locator(".timeline")
    expect(timeline).to_have_attribute(
        "aria-valuenow", str(timeline.get_attribute("aria-valuemax")), timeout=60 * SECONDS
    )
    assert page.locator(".answer-text").last.inner_text() == events[-1].text  # type: ignore[union-attr]
    facts = page.locator(".replay-facts").inner_text()
    assert events[0].model_revision in facts  # type: ignore[union-attr]
    assert "UTC on cpu (float32)" in facts
    assert page.locator("[data-source=recording]").inner_text() == "recording"


def test_it_scrubs_by_key_and_by_pointer(opened: Opened) -> None:
    page = opened(recorded())
    timeline = page.locator(".timeline")
    timeline.focus()
    page.keyboard.press("Home")
    expect(timeline).to_have_attribute("aria-valuenow", "0")
    at_first = text(page)
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-fact=step]")).to_have_text("1 of 48")
    page.keyboard.press("End")
    expect(page.locator(".canvas-edge").last).to_contain_text("committed")
    assert text(page) != at_first
    box = timeline.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 2, box["y"] + 10)
    expect(timeline).to_have_attribute("aria-valuenow", "0")


def test_it_inspects_a_position(opened: Opened) -> None:
    events = recorded()
    page = opened(events)
    page.locator(".timeline").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.locator(".lane-text .t[data-p='3']").click()
    expect(page.locator("#inspector h3").first).to_have_text("Position 4 at step 1")
    step: Any = next(event for event in events if event.type == "step")
    assert page.locator(".alternatives li").count() == min(5, len(step.top_ids[3]))
    shown = page.locator(".pairs > div", has_text="entropy").locator("dd").inner_text()
    assert shown == f"{step.entropy[3]:.3f} nats"
    assert page.locator("#inspector .chart").count() == 3
    stop = page.locator("#inspector section", has_text="How near the stop is")
    assert f"Mean entropy {step.mean_entropy:.4f} nats" in stop.inner_text()


def test_an_autoregressive_run_plays_too(opened: Opened) -> None:
    page = opened(recorded("autoregressive"))
    page.locator(".timeline").focus()
    page.keyboard.press("End")
    expect(page.locator("#inspector h3").first).to_contain_text("Token")
    expect(page.locator(".map")).to_be_hidden()


def test_text_of_a_model_cannot_run(opened: Opened) -> None:
    events = recorded()
    tokens = sorted(events[0].texts)  # type: ignore[union-attr]
    hostile = dict(zip(tokens, HOSTILE * len(tokens), strict=False))
    spoilt: list[Event] = []
    for event in events:
        fields = json.loads(event.model_dump_json())
        if "texts" in fields:
            fields["texts"] = {
                token: hostile.get(int(token), HOSTILE[int(token) % len(HOSTILE)]) for token in fields["texts"]
            }
        if event.type == "run_started":
            fields["recipe"]["messages"][-1]["content"] = "".join(HOSTILE)
            fields["model_revision"] = fields["device"] = HOSTILE[1]
            fields["recipe"]["model"] = HOSTILE[0]
        if event.type == "run_finished":
            fields["text"] = fields["thought"] = "".join(HOSTILE)
        spoilt.append(adapter.validate_python(fields))
    page = opened(spoilt)
    page.locator(".timeline").focus()
    for key in ("Home", "ArrowRight", "End"):
        page.keyboard.press(key)
        page.wait_for_timeout(200)
    page.locator(".lane-text .t[data-p='3']").last.click()
    assert page.evaluate("window.caught") is None
    assert page.locator("#denoise :is(img, script, a, iframe)").count() == 0
    assert "<img src=x onerror" in page.locator(".answer-text").last.inner_text()


def test_it_stays_harmless_if_markup_did_get_in(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "a run.html"
    path.write_bytes(page_of(recorded()))
    page.goto(path.as_uri())
    page.locator("#denoise[data-ready]").wait_for()
    refused = page.evaluate(
        """async () => {
          const refused = [];
          document.addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective));
          const spot = document.createElement('div');
          spot.innerHTML = '<img src="https://example.invalid/x" onerror="window.caught=1">';
          document.body.append(spot);
          const script = document.createElement('script');
          script.textContent = 'window.caught = 2';
          document.body.append(script);
          await fetch('https://example.invalid/y').catch(() => refused.push('fetch'));
          await new Promise((done) => setTimeout(done, 300));
          return refused;
        }"""
    )
    assert {"img-src", "connect-src", "script-src-elem", "fetch"} <= set(refused)
    assert page.evaluate("window.caught") is None


def test_a_failed_run_says_what_went_wrong(opened: Opened) -> None:
    events = recorded()
    end = json.loads(events[-1].model_dump_json()) | {"seq": 4, "stop_reason": "error", "text": ""}
    error = {
        "type": "error",
        "run": events[0].run,
        "seq": 3,
        "code": "out_of_memory",
        "message": "The device ran out of memory.",
    }
    page = opened([*events[:3], adapter.validate_python(error), adapter.validate_python(end)])
    assert page.locator(".lane-message").inner_text() == "The device ran out of memory."


def test_it_fits_a_phone(opened: Opened) -> None:
    page = opened(recorded())
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".timeline").focus()
    page.keyboard.press("End")
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
