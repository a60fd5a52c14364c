"""Small things at the page that have gone wrong before, with the real server and the embedded model."""

import os
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.test_browser import STORY, SUM, events, finished, run, set_number
from tests.watching import SECONDS, cancel


def at_step(page: Page, step: int) -> None:
    """Looks at a step of the first canvas of the recording."""
    page.locator(".lane[data-mode=diffusion][data-run] .timeline").focus()
    page.keyboard.press("Home")
    for _ in range(step):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".lane[data-mode=diffusion] [data-fact=step]")).to_have_text(re.compile(rf"^{step} of "))


@pytest.fixture(scope="module", autouse=True)
def patient() -> Iterator[None]:
    """The server of this module waits for a page that comes back, however slow the machine is."""
    name = "PLAYGROUND_UNWATCHED_SECONDS"
    os.environ[name] = "120"
    yield
    del os.environ[name]


@pytest.mark.parametrize(("moved", "value"), [("t_min", "1.5"), ("t_max", "0.1")])
def test_two_temperatures_that_do_not_go_together_are_both_marked(playground: Page, moved: str, value: str) -> None:
    set_number(playground, moved, value)
    playground.locator("#prompt textarea").fill(SUM)
    playground.locator("#run").click()
    error = playground.locator(".field-error")
    expect(error).to_have_count(1)
    expect(playground.locator(f"#{moved} .field-error")).to_be_visible()
    for name in ("t_min", "t_max"):
        box = playground.locator(f"#{name} input[type=number]")
        expect(box).to_have_attribute("aria-invalid", "true")
        expect(box).to_have_attribute("aria-describedby", f"error-{moved}")
    set_number(playground, "t_min" if moved == "t_max" else "t_max", "1.9" if moved == "t_min" else "0.05")
    expect(error).to_have_count(0)
    expect(playground.locator("[aria-invalid]")).to_have_count(0)


def test_the_figures_say_what_is_known_before_the_end(playground: Page) -> None:
    at_step(playground, 3)
    expect(playground.locator("[data-metric=steps]")).to_have_text("3")
    accepted = playground.locator(".lane[data-mode=diffusion] [data-fact=accepted]").inner_text()
    expect(playground.locator("[data-metric=accepted]")).to_have_text(accepted.split("/")[0])
    expect(playground.locator("[data-metric=tokens]")).to_have_text("0")
    expect(playground.locator("[data-metric=device]")).to_have_text(re.compile(r"^\d+\.\d\d s$"))
    playground.keyboard.press("End")
    expect(playground.locator("[data-metric=tokens_per_forward]")).to_have_text(re.compile(r"^\d+\.\d$"))
    expect(playground.locator(".answer:visible h3")).to_have_text("Answer")
    playground.get_by_text("Side by side").click()
    expect(playground.locator(".answer:visible h3").first).to_have_text("Answer, diffusion")


def test_a_cancelled_run_keeps_the_figures_it_has(playground: Page) -> None:
    run(playground, STORY, speed="2")
    expect(playground.locator("[data-metric=steps]")).to_have_text(re.compile("^[2-9]$"))
    cancel(playground)
    finished(playground)
    expect(playground.locator("[data-metric=steps]")).to_have_text(re.compile(r"^\d+$"))
    expect(playground.locator("[data-why]")).to_contain_text("no canvas committed")


def test_noise_looks_like_noise(playground: Page) -> None:
    at_step(playground, 2)
    drafts = playground.locator(".lane[data-mode=diffusion] .lane-text .t.s-draft:visible")
    noise = playground.locator(".lane[data-mode=diffusion] .lane-text .t.s-noise:visible")
    expect(noise).to_have_count(0)
    count = drafts.count()
    playground.get_by_role("button", name="Show noise").click()
    expect(drafts).to_have_count(0)
    expect(noise.first).to_be_visible()
    assert noise.count() >= count
    looks = "(element) => [getComputedStyle(element).fontStyle, getComputedStyle(element).backgroundImage]"
    style, background = noise.first.evaluate(looks)
    assert style == "normal"
    assert "repeating-linear-gradient" in background


def test_a_reload_keeps_the_run(playground: Page, server_url: str) -> None:
    run(playground, SUM)
    finished(playground)
    run_id = events(playground, server_url)[0]["run"]
    playground.wait_for_function("location.hash.startsWith('#s=1.')")
    playground.wait_for_timeout(600)
    playground.reload()
    playground.locator("#denoise[data-ready]").wait_for()
    lane = playground.locator(".lane[data-mode=diffusion]")
    expect(lane).to_have_attribute("data-run", run_id)
    expect(lane.locator(".lane-message")).to_contain_text("A stored run of embedded, ")


def test_a_reload_right_after_the_start_goes_on_with_the_run(playground: Page) -> None:
    playground.locator("#prompt textarea").fill(STORY)
    playground.locator(".lane[data-mode=diffusion] .speed").select_option("1")
    playground.locator("#run").click()
    playground.wait_for_function("JSON.parse(sessionStorage.getItem('denoise-control') ?? '{}').run")
    run_id = playground.evaluate("JSON.parse(sessionStorage.getItem('denoise-control')).run")
    playground.reload()
    playground.locator("#denoise[data-ready]").wait_for()
    lane = playground.locator(".lane[data-mode=diffusion]")
    expect(lane).to_have_attribute("data-run", run_id)
    expect(playground.locator("#denoise")).to_have_attribute("data-phase", "running")
    playground.locator("#cancel").click()
    expect(playground.locator("[data-why]:visible")).to_contain_text("it was cancelled")
    expect(lane.locator(".lane-message")).not_to_contain_text("going on")


def test_a_paused_run_is_paused_after_a_reload(playground: Page) -> None:
    playground.locator("#prompt textarea").fill(STORY)
    playground.locator(".lane[data-mode=diffusion] .speed").select_option("1")
    playground.locator("#run").click()
    playground.wait_for_timeout(650)  # no half of a double click
    playground.locator("#pause").click()
    root = playground.locator("#denoise")
    expect(root).to_have_attribute("data-phase", "paused")
    playground.reload()
    playground.locator("#denoise[data-ready]").wait_for()
    expect(root).to_have_attribute("data-phase", "paused")
    expect(playground.locator("#resume")).to_be_visible()
    playground.locator("#resume").click()
    expect(root).to_have_attribute("data-phase", "running")
    cancel(playground)
    expect(playground.locator("[data-why]:visible")).to_contain_text("it was cancelled")


def test_what_was_to_follow_the_run_follows_it_after_a_reload(playground: Page) -> None:
    playground.locator("#prompt textarea").fill(SUM)
    playground.get_by_text("Side by side").click()
    playground.locator(".lane[data-mode=diffusion] .speed").select_option("1")
    playground.locator("#run").click()
    second = playground.locator(".lane[data-mode=autoregressive]")
    expect(second.locator(".lane-message")).to_contain_text("Waits for the diffusion run")
    playground.wait_for_timeout(650)  # no half of a double click
    playground.locator("#pause").click()
    root = playground.locator("#denoise")
    expect(root).to_have_attribute("data-phase", "paused")
    playground.wait_for_function("location.hash.startsWith('#s=1.')")
    playground.reload()
    playground.locator("#denoise[data-ready]").wait_for()
    expect(root).to_have_attribute("data-phase", "paused")
    expect(second.locator(".lane-message")).to_contain_text("Waits for the diffusion run")
    playground.locator(".lane[data-mode=diffusion] .speed").select_option("null")
    playground.locator("#resume").click()
    finished(playground)
    expect(second.locator(".lane-status")).to_contain_text("s on the device")
    expect(root).to_have_attribute("data-phase", "idle")


def test_a_reload_before_the_server_has_taken_the_run_keeps_its_recipe(playground: Page) -> None:
    playground.evaluate("WebSocket.prototype.send = () => {}")
    playground.locator("#prompt textarea").fill(STORY)
    playground.locator("#run").click()
    playground.wait_for_function("JSON.parse(sessionStorage.getItem('denoise-control') ?? '{}').recipe")
    playground.reload()
    playground.locator("#denoise[data-ready]").wait_for()
    expect(playground.locator(".notice")).to_contain_text("before the server had taken the run. Its recipe is here")
    expect(playground.locator("#prompt textarea")).to_have_value(STORY)


CUT_OFF = """() => [...document.querySelectorAll('#denoise *')].filter((element) => {
  const moved = '#examples .example-row'; // sideways, by hand
  if (!element.offsetParent || element.closest(`.chart, ${moved}`)) return false;
  const box = element.getBoundingClientRect();
  return box.width > 1 && (box.right > innerWidth + 1 || box.left < -1);
}).map((element) => `${element.tagName} ${element.className} ${element.textContent.slice(0, 40)}`)"""


def test_nothing_is_cut_off_on_the_narrowest_phone(browser: Browser, server_url: str) -> None:
    context = browser.new_context(viewport={"width": 320, "height": 700}, has_touch=True, is_mobile=True)
    try:
        page = context.new_page()
        page.set_default_timeout(60 * SECONDS)
        page.goto(server_url)
        page.locator("#denoise[data-ready][data-model=ready]").wait_for()
        tops = [page.locator(name).bounding_box() for name in ("#head h1", ".views", ".tools-button")]
        middles = [box["y"] + box["height"] / 2 for box in tops if box]
        assert len(middles) == 3
        assert max(middles) - min(middles) < 12, "the head is one line"
        page.get_by_text("Side by side").click()
        run(page, SUM)
        finished(page)
        assert page.evaluate(CUT_OFF) == []
        page.get_by_role("button", name="Race", exact=True).click()
        page.keyboard.press("End")
        assert page.evaluate(CUT_OFF) == []
    finally:
        context.close()
