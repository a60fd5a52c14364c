"""Traces from files, the list of one's own runs, exports: with the real server, the embedded model and a store."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.test_browser import STORY, SUM, events, finished, run
from tests.test_browser_links import playground, state_of, stored
from tests.watching import cancel, visit

__all__ = ["playground", "stored"]

RECORDING = Path(__file__).parents[1] / "static" / "recordings" / "diffusion.jsonl"

DROP = """(files) => {
  const data = new DataTransfer();
  for (const [name, parts, times] of files) data.items.add(new File(Array(times).fill(parts), name));
  document.dispatchEvent(new DragEvent('dragover', { dataTransfer: data, bubbles: true, cancelable: true }));
  document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def test_a_dropped_trace_plays_as_a_recording(playground: Page) -> None:
    log = [json.loads(line) for line in RECORDING.read_text().splitlines()]
    log[0]["recipe"]["messages"][-1]["content"] = "<b>whose?</b>"
    log[0]["model_revision"] = "0123456789abcdef"
    text = "\n".join(json.dumps({**event, "run": "elsewhere"}) for event in log)
    playground.evaluate(DROP, [["trace.jsonl", text, 1]])
    lane = playground.locator(".lane[data-mode=diffusion]")
    expect(lane).to_have_attribute("data-run", "elsewhere")
    expect(lane.locator(".lane-message")).to_contain_text(f"A recording of {log[0]['recipe']['model']}, ")
    expect(lane.locator(".lane-message")).to_contain_text("“<b>whose?</b>” It was made with another revision")
    expect(playground.locator(".drop-veil")).to_be_hidden()
    for _ in range(100):
        link = playground.url
        if "#s=1." in link and state_of(playground, link).get("file"):
            break
        playground.wait_for_timeout(100)
    playground.reload()
    playground.locator("#denoise[data-ready]").wait_for()
    expect(lane).to_have_attribute("data-run", "elsewhere")
    expect(lane.locator(".lane-message")).to_contain_text("A recording of")
    playground.get_by_role("button", name="Share").click()
    expect(playground.locator(".notice")).to_contain_text("The recording itself stays in this browser")
    playground.evaluate("indexedDB.deleteDatabase('denoise')")
    visit(playground, link)
    expect(playground.locator(".notice")).to_contain_text("opened from a file that is not in this browser")
    expect(playground.locator("#prompt textarea")).to_have_value(log[-1]["recipe"]["messages"][-1]["content"])
    playground.evaluate(DROP, [["trace.jsonl", text, 1]])
    expect(lane).to_have_attribute("data-run", "elsewhere")
    playground.get_by_role("button", name="Export").click()
    with playground.expect_download() as download:
        playground.locator(".exports [data-kind=html]").click()
    assert "<!doctype html>" in Path(download.value.path()).read_text()[:20].lower()
    playground.get_by_role("button", name="Export").click()
    with playground.expect_download() as download:
        playground.locator(".exports [data-kind=jsonl]").click()
    assert [json.loads(line) for line in Path(download.value.path()).read_text().splitlines()] == [
        json.loads(line) for line in text.splitlines()
    ]


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (["junk.bin", "\u0000\u0001\u0002junk", 1], "Line 1: this is no trace"),
        (["big.jsonl", " " * (1 << 20), 100], "It has 100 MB; at most 48 MB"),
        (["empty.jsonl", "", 1], "The file is empty"),
        (["cut.jsonl", "CUT", 1], "Line 6: cut off or not JSON"),
        (["order.jsonl", "ORDER", 1], "Line 3: seq is 3 where 2 was expected"),
        (["future.jsonl", "FUTURE", 1], "Line 1: made by playground 9.0.0, newer than this page"),
    ],
)
def test_a_bad_file_gets_a_sentence_and_changes_nothing(playground: Page, file: list[Any], sentence: str) -> None:
    lines = RECORDING.read_text().splitlines()
    spoilt = {
        "CUT": "\n".join(lines[:6])[:-20],
        "ORDER": "\n".join([lines[0], lines[1], lines[3], lines[2], *lines[4:]]),
        "FUTURE": "\n".join([json.dumps(json.loads(lines[0]) | {"version": "9.0.0"}), *lines[1:]]),
    }
    lane = playground.locator(".lane[data-mode=diffusion][data-run]")
    before = lane.get_attribute("data-run")
    playground.evaluate(DROP, [[file[0], spoilt.get(file[1], file[1]), file[2]]])
    expect(playground.locator(".notice")).to_contain_text(f"{file[0]} was not opened. {sentence}")
    assert lane.get_attribute("data-run") == before


def test_a_trace_is_opened_with_the_file_button(playground: Page, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    text = RECORDING.read_text()
    path.write_text(text.replace(json.loads(text.splitlines()[0])["run"], "chosen"))
    with playground.expect_file_chooser() as chooser:
        playground.get_by_role("button", name="Open file").click()
    chooser.value.set_files(path)
    expect(playground.locator(".lane[data-mode=diffusion]")).to_have_attribute("data-run", "chosen")


def test_ones_own_runs_are_listed_kept_deleted_and_opened(playground: Page, server_url: str, page: Page) -> None:
    run(playground, STORY, speed="1")
    playground.wait_for_timeout(700)  # sooner it would be the second click of a double click
    cancel(playground)
    finished(playground)
    run(playground, SUM)
    finished(playground)
    second = events(playground, server_url)[0]["run"]
    run(playground, "What is 1 + 1?")
    finished(playground)
    button = playground.get_by_role("button", name="Your runs")
    button.click()
    rows = playground.locator(".runs li")
    expect(rows).to_have_count(3)
    expect(rows.nth(2)).to_contain_text("cancelled")
    rows.nth(1).get_by_role("button", name="Keep").click()
    expect(rows.nth(1).get_by_role("button", name="Keep")).to_have_attribute("aria-pressed", "true")
    rows.nth(1).get_by_role("button", name="Copy the link").click()
    expect(rows.nth(1).get_by_text("Copied")).to_be_visible()
    assert playground.evaluate("navigator.clipboard.readText()").endswith(f"/r/{second}")
    rows.nth(2).get_by_role("button", name="Delete").click()
    expect(rows).to_have_count(2)
    rows.nth(1).locator(".run-open").click()
    lane = playground.locator(".lane[data-mode=diffusion]")
    expect(lane).to_have_attribute("data-run", second)
    expect(playground.locator("#prompt textarea")).to_have_value(SUM)
    visit(playground, server_url)
    button.click()
    expect(rows).to_have_count(2)
    playground.keyboard.press("Escape")
    expect(rows.first).to_be_hidden()
    expect(button).to_be_focused()
    stranger = playground.context.browser.new_context().new_page() if playground.context.browser else page
    visit(stranger, server_url)
    stranger.get_by_role("button", name="Your runs").click()
    expect(stranger.locator(".menu-panel:visible .hint").first).to_contain_text("Nothing yet")
    stranger.context.close()


@pytest.mark.parametrize("kind", ["html", "jsonl", "csv?table=steps"])
def test_a_run_is_exported(playground: Page, server_url: str, kind: str) -> None:
    run(playground, SUM)
    finished(playground)
    playground.get_by_role("button", name="Export").click()
    with playground.expect_download() as download:
        playground.locator(f".exports a[href$='export.{kind}']").click()
    body = Path(download.value.path()).read_text()
    assert body
    if kind == "jsonl":
        assert [json.loads(line) for line in body.splitlines()] == events(playground, server_url)
