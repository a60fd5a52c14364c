"""What is painted, against the trace it is painted from; the player, the keys, the phone, hostile text."""

import json
import re
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.watching import SECONDS, watched

RECORDING = Path(__file__).parents[1] / "static" / "recordings" / "diffusion.jsonl"
FRAMES = ("canvas_started", "step", "canvas_committed")

HOSTILE = (
    "<img src=x onerror=\"window.caught='img'\">",
    "${window.caught='template'}",
    "</script><script>window.caught='script'</script>",
    "`${window.caught='backticks'}`",
    "{{constructor.constructor('window.caught=1')()}}",
    "\u2028\u2029 \u202e",
    "javascript:window.caught='link'",
    "&lt;b&gt;",
)

PAINTED = """async () => {
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))));
  const text = [...document.querySelectorAll('.lane[data-mode=diffusion] .canvas-text')].at(-1);
  const tokens = [...text.querySelectorAll('.t')].filter((token) => !token.hidden);
  const chip = text.querySelector('.tail-chip');
  return {
    canvas: Number(text.dataset.canvas),
    pieces: tokens.map((token) => token.previousSibling.data + token.textContent + token.nextSibling.data),
    states: tokens.map((token) => [...token.classList].find((name) => name.startsWith('s-')).slice(2)),
    chip: chip.hidden ? null : chip.textContent,
    facts: Object.fromEntries([...document.querySelectorAll('.lane[data-mode=diffusion] [data-fact]')]
      .map((fact) => [fact.dataset.fact, fact.textContent])),
  };
}"""


@pytest.fixture
def playground(page: Page, server_url: str) -> Iterator[Page]:
    """The page on its recording, halted at the first frame; nothing may go wrong meanwhile."""
    with watched(page, server_url):
        open_at_start(page, server_url)
        yield page


def open_at_start(page: Page, url: str) -> None:
    """Opens the page and puts the recording at its first frame."""
    page.goto(url)
    page.locator(".lane[data-mode=diffusion][data-run]").wait_for()
    timeline(page).focus()
    page.keyboard.press("Home")
    expect(timeline(page)).to_have_attribute("aria-valuenow", "0")


def timeline(page: Page) -> Any:
    """The scrubber of the diffusion lane."""
    return page.locator(".lane[data-mode=diffusion] .timeline")


def trace(path: Path = RECORDING) -> list[dict[str, Any]]:
    """The events of a trace file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def fixed(value: float, decimals: int) -> str:
    """As JavaScript's `toFixed`: halves go up."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))


def expected(log: list[dict[str, Any]], frame: dict[str, Any]) -> tuple[list[str], list[str], int]:
    """Pieces, states and folded end tokens of a frame, by the rules of a run."""
    texts: dict[str, str] = {}
    for event in log:
        texts |= event.get("texts", {})
    end_ids = log[0]["end_ids"]
    steps = [event for event in log if event["type"] == "step" and event["canvas"] == frame["canvas"]]
    if frame["type"] == "canvas_started":
        ids, states = frame["canvas_ids"], ["noise"] * len(frame["canvas_ids"])
        return [texts[str(id)] for id in ids], states, 0
    if frame["type"] == "step":
        before = next((step for step in steps if step["step"] == frame["step"] - 1), None)
        ids, states = [], []
        for position, accepted in enumerate(frame["accepted"]):
            was = before is not None and before["accepted"][position]
            same = before is not None and before["sampled"][position] == frame["sampled"][position]
            ids.append(frame["sampled" if accepted else "predicted"][position])
            states.append(
                ("kept" if same else "revised")
                if accepted and was
                else "new"
                if accepted
                else "released"
                if was
                else "draft"
            )
        length = len(ids)
    else:
        ids, states = frame["ids"], []
        for position, id in enumerate(ids):
            last = next((step for step in reversed(steps) if step["accepted"][position]), None)
            states.append("revised" if last is not None and last["sampled"][position] != id else "committed")
        length = log[0]["canvas_length"]
    tail = len(ids)
    while tail and ids[tail - 1] in end_ids:
        tail -= 1
    folded = length - tail if tail < len(ids) else 0
    return [texts[str(id)] for id in ids[:tail]], states[:tail], folded


def test_what_is_painted_is_what_the_trace_says(playground: Page) -> None:
    log = trace()
    for frame in (event for event in log if event["type"] in FRAMES):
        painted = playground.evaluate(PAINTED)
        pieces, states, folded = expected(log, frame)
        assert painted["canvas"] == frame["canvas"]
        assert painted["pieces"] == pieces
        assert painted["states"] == states
        assert (painted["chip"] or "").startswith("end of turn" if folded else "")
        assert painted["chip"] is None or folded == 1 or f"× {folded}" in painted["chip"]
        if frame["type"] == "step":
            assert painted["facts"] == {
                "canvas": str(frame["canvas"] + 1),
                "step": f"{frame['step']} of {frame['max_denoising_steps']}",
                "temperature": fixed(frame["temperature"], 2),
                "bound": fixed(frame["entropy_bound"], 2),
                "accepted": f"{sum(frame['accepted'])}/{len(frame['accepted'])}",
                "entropy": fixed(frame["mean_entropy"], 3),
            }
        playground.keyboard.press("ArrowRight")


def test_backwards_shows_the_same(playground: Page) -> None:
    forwards = []
    for _ in range(6):
        forwards.append(playground.evaluate(PAINTED))
        playground.keyboard.press("ArrowRight")
    for seen in reversed(forwards):
        playground.keyboard.press("ArrowLeft")
        assert playground.evaluate(PAINTED) == seen


def test_keys_move_the_player(playground: Page) -> None:
    frames = [event for event in trace() if event["type"] in FRAMES]
    now = timeline(playground)
    playground.keyboard.press("ArrowRight")
    playground.keyboard.press("ArrowRight")
    expect(now).to_have_attribute("aria-valuenow", "2")
    playground.keyboard.press("ArrowLeft")
    expect(now).to_have_attribute("aria-valuenow", "1")
    playground.keyboard.press("End")
    expect(now).to_have_attribute("aria-valuenow", str(len(frames) - 1))
    expect(now).to_have_attribute("aria-valuetext", "canvas 2 committed")
    playground.keyboard.press("Home")
    expect(now).to_have_attribute("aria-valuenow", "0")
    playground.keyboard.press(" ")
    expect(now).not_to_have_attribute("aria-valuenow", "0")
    playground.keyboard.press(" ")
    playground.wait_for_timeout(300)  # a busy page paints a frame or two later
    held = now.get_attribute("aria-valuenow")
    playground.wait_for_timeout(700)
    assert now.get_attribute("aria-valuenow") == held
    playground.locator("#prompt textarea").focus()
    playground.keyboard.press("Home")
    assert now.get_attribute("aria-valuenow") == held, "keys in the prompt belong to the prompt"


def test_the_timeline_and_the_map_go_to_a_step(playground: Page) -> None:
    now = timeline(playground)
    box = now.bounding_box()
    assert box is not None
    now.click(position={"x": box["width"] / 3, "y": 10})
    expect(now).not_to_have_attribute("aria-valuenow", "0")
    surface = playground.locator(".map canvas")
    surface.click(position={"x": 5, "y": 3})
    expect(now).to_have_attribute(
        "aria-valuetext", "canvas 1, step 1, mean entropy " + f"{trace()[2]['mean_entropy']:.3f}"
    )
    expect(playground.locator("#inspector h3").first).to_have_text("Position 1 at step 1")


def test_the_inspector_answers_for_a_position(playground: Page) -> None:
    for _ in range(5):
        playground.keyboard.press("ArrowRight")
    step = [event for event in trace() if event["type"] == "step"][4]
    playground.locator(".lane[data-mode=diffusion] .lane-text [data-p='7']").click()
    expect(playground.locator("#inspector h3").first).to_have_text("Position 8 at step 5")
    order = sorted(range(64), key=lambda position: (step["entropy"][position], position))
    pairs = playground.locator("#inspector .pairs")
    expect(pairs).to_contain_text(f"rank in the budget{order.index(7) + 1} of 64")
    expect(pairs).to_contain_text(f"entropy{step['entropy'][7]:.3f} nats")
    expect(playground.locator("#inspector .alternatives li")).to_have_count(5)
    playground.get_by_role("button", name="Next position").click()
    expect(playground.locator("#inspector h3").first).to_have_text("Position 9 at step 5")
    playground.locator(".lane[data-mode=diffusion] .lane-text").focus()
    playground.keyboard.press("ArrowLeft")
    expect(playground.locator("#inspector h3").first).to_have_text("Position 8 at step 5")


def test_noise_on_request(playground: Page) -> None:
    playground.keyboard.press("ArrowRight")
    log = trace()
    step = next(event for event in log if event["type"] == "step")
    playground.get_by_role("button", name="Show noise").click()
    painted = playground.evaluate(PAINTED)
    texts = {id: text for event in log for id, text in event.get("texts", {}).items()}
    for position, piece in enumerate(painted["pieces"]):
        if not step["accepted"][position]:
            assert piece == texts[str(step["canvas_ids"][position])]


def test_hostile_tokens_are_text(page: Page, server_url: str) -> None:
    log = trace()
    for event in log:
        ids = list(event.get("texts", {}))
        event.get("texts", {}).update({id: HOSTILE[int(id) % len(HOSTILE)] for id in ids})
    log[-1]["text"] = "".join(HOSTILE)
    log[0]["recipe"]["messages"][-1]["content"] = "".join(HOSTILE)
    body = "\n".join(json.dumps(event) for event in log)
    page.route("**/recordings/diffusion.jsonl", lambda route: route.fulfill(body=body))
    page.set_default_timeout(60 * SECONDS)
    open_at_start(page, server_url)
    for key in ("ArrowRight", "End"):
        page.keyboard.press(key)
        painted = page.evaluate(PAINTED)
        assert set(painted["pieces"]) <= set(HOSTILE)
    page.locator(".lane[data-mode=diffusion] .lane-text .t").first.click()
    page.locator("#inspector .alternatives li").first.wait_for()
    assert page.locator(".answer:visible .answer-text:visible").text_content() == "".join(HOSTILE)
    assert page.locator("#stage img, #stage script, #stage b, #inspector img, #inspector script").count() == 0
    assert page.evaluate("window.caught") is None


def test_the_recording_says_what_it_is_and_plays(page: Page, server_url: str) -> None:
    page.goto(server_url)
    page.locator("[data-source=recording]").wait_for()
    expect(page.locator(".lane[data-mode=diffusion] .lane-message")).to_contain_text("A recording: “Tell a long story")
    expect(timeline(page)).to_have_attribute("aria-valuenow", re.compile(r"^([4-9]|\d\d)$"), timeout=20 * SECONDS)


def test_phone(browser: Browser, server_url: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    try:
        page = context.new_page()
        page.set_default_timeout(60 * SECONDS)
        page.goto(server_url)
        page.locator(".lane[data-mode=diffusion][data-run]").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        tops = [
            page.locator(name).bounding_box()
            for name in ("#prompt", "#run", ".lane-text >> nth=0", ".player >> nth=0", "#controls")
        ]
        heights = [box["y"] for box in tops if box]
        assert len(heights) == 5
        assert heights == sorted(heights)
        expect(page.locator("#inspector .inspect").first).to_be_hidden()
        page.locator(".lane-text [data-p='5']").first.tap()
        expect(page.locator("#inspector .inspect").first).to_be_visible()
        page.get_by_role("button", name="Close").tap()
        expect(page.locator("#inspector .inspect").first).to_be_hidden()
    finally:
        context.close()


def test_reduced_motion_opens_on_the_result(browser: Browser, server_url: str) -> None:
    context = browser.new_context(reduced_motion="reduce", color_scheme="dark")
    try:
        page = context.new_page()
        page.set_default_timeout(60 * SECONDS)
        page.goto(server_url)
        frames = [event for event in trace() if event["type"] in FRAMES]
        expect(timeline(page)).to_have_attribute("aria-valuenow", str(len(frames) - 1))
        expect(page.locator("body")).to_have_class("dark")
        page.get_by_role("button", name="Switch to the light theme").click()
        expect(page.locator("body")).not_to_have_class("dark")
    finally:
        context.close()


def test_without_chromium_the_tests_say_what_to_install(
    find_chromium: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYGROUND_CHROMIUM", "/nowhere/chromium")
    with pytest.raises(pytest.fail.Exception, match="install it"):
        find_chromium()
