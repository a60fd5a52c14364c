"""Pressing twice, sliders that are refused, and a line that is cut in mid-run, at the real server."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.test_browser import STORY, events, finished, playground, run, set_number
from tests.watching import cancel

__all__ = ["playground"]


def settled(page: Page) -> None:
    """Waits until the buttons of a run take a press again."""
    page.wait_for_timeout(700)


def cut(page: Page) -> None:
    """Cuts the line, and keeps it cut."""
    page.evaluate(
        """() => {
          window.uncut ??= window.WebSocket;
          window.WebSocket = class extends EventTarget {
            static OPEN = 1;
            readyState = 3;
            constructor() { super(); setTimeout(() => this.dispatchEvent(new Event('close')), 50); }
          };
          window.sockets.filter((socket) => socket.readyState === 1).forEach((socket) => socket.close());
        }"""
    )
    expect(page.locator("#head .chip[role=status]")).to_contain_text("Connection lost")


def mend(page: Page) -> None:
    """Lets the next try succeed."""
    page.evaluate("window.WebSocket = window.uncut; window.dispatchEvent(new Event('online'))")
    expect(page.locator("#head .chip[role=status]")).to_be_hidden()


def steps(page: Page, server_url: str) -> list[dict[str, Any]]:
    """The steps of the run that is shown."""
    return [event for event in events(page, server_url) if event["type"] == "step"]


def test_a_double_click_on_run_does_not_cancel(playground: Page, server_url: str) -> None:
    playground.locator(".lane:visible .speed").first.select_option("2")
    playground.locator("#prompt textarea").fill(STORY)
    box = playground.locator("#run").bounding_box()
    assert box
    for share in (0.25, 0.75):
        playground.mouse.dblclick(box["x"] + box["width"] * share, box["y"] + box["height"] / 2, delay=40)
        expect(playground.locator(".lane[data-mode=diffusion] [data-fact=step]")).to_have_text(
            re.compile(r"^[3-9] of 48$")
        )
        expect(playground.locator("#denoise")).to_have_attribute("data-phase", "running")
        playground.locator("#cancel").dblclick(delay=40)
        finished(playground)
        assert events(playground, server_url)[-1]["stop_reason"] == "cancelled"
        settled(playground)
        expect(playground.locator("#denoise")).to_have_attribute("data-phase", "idle")


def test_a_refused_slider_does_not_keep_the_others(playground: Page, server_url: str) -> None:
    run(playground, STORY, speed="4")
    set_number(playground, "t_min", "1.5")
    expect(playground.locator("#t_min .field-error")).to_contain_text("must not be above")
    set_number(playground, "max_denoising_steps", "30")
    expect(playground.locator(".lane[data-mode=diffusion] [data-fact=step]")).to_have_text(re.compile("of 30$"))
    expect(playground.locator("#t_min .field-error")).to_be_visible()
    set_number(playground, "t_max", "1.6")
    expect(playground.locator(".field-error")).to_have_count(0)
    playground.locator(".lane[data-mode=diffusion] [data-fact=temperature].edited").wait_for()
    settled(playground)
    cancel(playground)
    finished(playground)
    assert steps(playground, server_url)[-1]["temperature"] > 1.5


def test_what_is_moved_and_pressed_without_a_line_goes_later(playground: Page, server_url: str) -> None:
    run(playground, STORY, speed="1")
    settled(playground)
    cut(playground)
    set_number(playground, "max_denoising_steps", "31")
    playground.get_by_role("button", name="All at once").click()
    expect(playground.locator("#run-buttons .field-error")).to_contain_text("The connection to the server is lost. Run")
    expect(playground.locator("#pause")).to_be_visible()
    settled(playground)
    playground.locator("#pause").click()
    expect(playground.locator("#run-buttons .field-error")).to_contain_text("Pause is sent as soon as")
    mend(playground)
    expect(playground.locator("#resume")).to_be_visible()
    expect(playground.locator("#run-buttons .field-error")).to_have_count(0)
    settled(playground)
    playground.locator("#resume").click()
    expect(playground.locator(".lane[data-mode=diffusion] [data-fact=step]")).to_have_text(re.compile("of 31$"))
    cut(playground)
    settled(playground)
    cancel(playground)
    expect(playground.locator("#run-buttons .field-error")).to_contain_text("Cancel is sent as soon as")
    mend(playground)
    finished(playground)
    expect(playground.locator("#run")).to_be_visible()
    assert events(playground, server_url)[-1]["stop_reason"] == "cancelled"
    assert steps(playground, server_url)[-1]["step"] < 31


def test_head_and_player_stay_in_sight(playground: Page) -> None:
    playground.set_viewport_size({"width": 1280, "height": 500})
    playground.evaluate("document.querySelector('.lane-text').style.minHeight = '1500px'; scrollTo(0, 600)")
    playground.wait_for_function("scrollY === 600")
    for part, edge in ((".lane-head", "top"), (".player", "bottom")):
        at = playground.locator(f".lane[data-mode=diffusion] {part}").evaluate(
            f"(part) => part.getBoundingClientRect().{edge}"
        )
        assert at == {"top": 0, "bottom": 500}[edge]
