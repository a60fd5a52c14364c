"""A class at the page: one teacher, three students, one of them on a phone with touch and reduced motion."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.test_browser_access import serious
from tests.watching import SECONDS, own

LANE = ".lane[data-mode=diffusion]"
FOLLOWING = "#denoise[data-ready][data-room=following]"
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
    "reduced_motion": "reduce",
    "color_scheme": "dark",
}

Open = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, server_url: str) -> Iterator[Open]:
    """Opens a page in a browser context of its own; nothing may go wrong on any, and each keeps what it was told."""
    wrong: list[str] = []
    contexts = []

    def open_page(address: str = server_url, **options: Any) -> Page:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        contexts.append(context)
        page = context.new_page()
        page.heard = []  # type: ignore[attr-defined]
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: None if own(request.url, server_url) else wrong.append(request.url))
        hear = page.heard.append  # type: ignore[attr-defined]
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: hear(str(frame))))
        page.set_default_timeout(120 * SECONDS)
        page.goto(address)
        page.locator("#denoise[data-ready][data-model=ready]").wait_for()
        return page

    expect.set_options(timeout=60 * SECONDS)  # four browsers share one machine
    yield open_page
    expect.set_options(timeout=5 * SECONDS)
    for context in contexts:
        context.close()
    assert wrong == []


def new_room(teacher: Page) -> tuple[str, str, str]:
    """Opens a room; gives its code, the students' link and the teacher's token."""
    teacher.get_by_role("button", name="Room", exact=True).click()
    teacher.get_by_role("button", name="Open a room").click()
    teacher.locator(".room-qr:visible").wait_for()
    code, link = teacher.locator(".room-big").inner_text(), teacher.locator(".room-link").inner_text()
    teacher.keyboard.press("Escape")
    token = teacher.evaluate("(key) => sessionStorage.getItem(key)", f"denoise-room-{code}")
    return code, link, token


def step(page: Page) -> str:
    return page.locator(f"{LANE} [data-fact=step]").inner_text()


def see_the_same(teacher: Page, *students: Page) -> None:
    """Until each student's page shows the teacher's run, step, text and position, the one that is chosen."""
    for page in (teacher, *students):
        page.mouse.move(0, 0)  # what is under somebody's mouse is shown to that person alone
    run = teacher.locator(LANE).get_attribute("data-run")
    assert run
    for student in students:
        expect(student.locator(LANE)).to_have_attribute("data-run", run)
        expect(student.locator(f"{LANE} [data-fact=step]")).to_have_text(step(teacher))
        text = teacher.locator(f"{LANE} .lane-text").text_content() or ""
        expect(student.locator(f"{LANE} .lane-text")).to_have_text(text)
        title = teacher.locator("#inspector h3").first.text_content() or ""
        expect(student.locator("#inspector h3").first).to_have_text(title)


def go_to(teacher: Page, frame: int) -> None:
    """Scrubs by keyboard."""
    teacher.locator(f"{LANE} .timeline").focus()
    teacher.keyboard.press("Home")
    for _ in range(frame):
        teacher.keyboard.press("ArrowRight")


def test_a_room_that_is_opened_at_the_end_of_a_run_has_nothing_to_ask_about(open_page: Open) -> None:
    teacher = open_page()
    teacher.locator(f"{LANE} .timeline").press("End")
    teacher.wait_for_timeout(500)  # nothing is painted any more when the room is opened
    new_room(teacher)
    expect(teacher.get_by_role("button", name="Ask: what is")).to_be_disabled()


def test_a_class_goes_through_a_lesson(open_page: Open) -> None:
    teacher = open_page()
    code, link, token = new_room(teacher)
    assert link.endswith(f"#room={code}")
    assert token not in teacher.url
    anna, phone = open_page(link), open_page(link, **PHONE)
    for student in (anna, phone):
        student.locator(FOLLOWING).wait_for()
        assert student.locator(f"{LANE} .player").evaluate("(bar) => bar.inert")
    expect(teacher.locator(".room-words")).to_have_text("2 students see what you see.")

    teacher.get_by_role("button", name="Lessons", exact=True).click()
    teacher.locator(".lessons button", has_text="Noise and denoising").click()
    for page in (teacher, anna, phone):
        expect(page.locator(".lesson h2")).to_have_text("Start from noise")
    teacher.locator(f"{LANE} .speed").select_option("null")
    teacher.get_by_role("button", name="Set it and run").click()
    teacher.locator(".lesson-seen [data-done=true]").wait_for(timeout=240 * SECONDS)
    see_the_same(teacher, anna, phone)
    expect(anna.locator(f"{LANE} .lane-message")).to_contain_text("The prompt: “Tell a story about a fox named Mia.”")
    boxes = [phone.locator(place).bounding_box() or {} for place in (LANE, ".lesson")]
    assert boxes[0]["y"] < boxes[1]["y"], "on a phone the canvas comes first"
    go_to(teacher, 1)
    see_the_same(teacher, anna, phone)

    # The question: which positions are accepted next?
    teacher.get_by_role("button", name="Ask: what is accepted next?").click()
    phone.locator(".question:visible").wait_for()
    drafts = phone.locator(f"{LANE} .t.s-draft:visible")
    drafts.nth(0).tap()
    drafts.nth(1).tap()
    expect(phone.locator(f"{LANE} .t[data-pick]")).to_have_count(2)
    anna.locator(f"{LANE} .t.s-draft:visible").nth(1).click()
    expect(teacher.locator(".question")).to_contain_text("2 answers")
    expect(anna.locator(".votes li")).to_have_count(0)
    for page in (teacher, anna, phone):  # nothing on the page has the answer
        expect(page.locator(".map")).to_be_hidden()
        expect(page.locator(".answers")).to_be_hidden()
        expect(page.locator(LANE)).to_be_in_viewport()
    teacher.get_by_role("button", name="Show the answer").click()
    for page in (teacher, anna, phone):
        expect(page.locator(".votes li")).to_have_count(2)
        expect(page.locator(".question-lead")).to_contain_text("of 3 votes were right")
        expect(page.locator(f"{LANE} .t[data-votes='2']")).to_have_count(1)
    expect(anna.locator(".question")).to_contain_text("of 1 right")
    expect(anna.locator(".map")).to_be_visible()
    see_the_same(teacher, anna, phone)
    teacher.get_by_role("button", name="Put it away").click()
    expect(phone.locator(".question")).to_be_hidden()

    # One steps out and comes back; one comes late, with the code.
    anna.get_by_role("button", name="Step out").click()
    go_to(anna, 0)
    alone = f"{LANE} [data-fact=step]"
    expect(anna.locator(alone)).to_have_text("0 of 48")
    go_to(teacher, 3)
    ben = open_page()
    ben.get_by_role("button", name="Room", exact=True).click()
    ben.get_by_label("Code of the room").fill(code.lower())
    ben.get_by_role("button", name="Join", exact=True).click()
    ben.locator(FOLLOWING).wait_for()
    see_the_same(teacher, ben, phone)
    expect(ben.locator(".lesson h2")).to_have_text("Start from noise")
    expect(anna.locator(alone)).to_have_text("0 of 48")
    anna.get_by_role("button", name="Back to the teacher").click()
    see_the_same(teacher, anna)

    # The teacher's page is loaded anew in the middle, and leads on.
    before = step(teacher)
    teacher.reload()
    teacher.locator("#denoise[data-ready][data-room=teaching]").wait_for()
    expect(teacher.locator(f"{LANE} [data-fact=step]")).to_have_text(before)
    expect(teacher.locator(".lesson h2")).to_have_text("Start from noise")
    see_the_same(teacher, anna, ben, phone)
    go_to(teacher, 2)
    see_the_same(teacher, anna, ben, phone)

    # Through the rest of the lesson; runs of the students' own are switched off.
    while teacher.get_by_role("button", name="Next", exact=True).is_enabled():
        teacher.get_by_role("button", name="Next", exact=True).click()
    expect(phone.locator(".lesson h2")).to_have_text(teacher.locator(".lesson h2").inner_text())
    expect(anna.locator("#run")).to_be_visible()
    teacher.get_by_role("button", name=f"Room {code}").click()
    teacher.get_by_label("Students may start runs of their own").uncheck()
    expect(anna.locator("#run")).to_be_hidden()
    teacher.get_by_role("button", name="Close the room").click()
    expect(anna.locator("#denoise")).to_have_attribute("data-room", "following")
    teacher.get_by_role("button", name="Close it for everybody").click()
    expect(anna.locator(".room-panel")).to_contain_text("The teacher has closed the room.")
    expect(anna.locator("#run")).to_be_visible()

    for student in (anna, ben, phone):
        told = json.dumps(student.heard) + student.content() + student.url  # type: ignore[attr-defined]
        assert token not in told + student.evaluate("JSON.stringify({...sessionStorage, ...localStorage})")


def test_a_live_run_is_followed_and_steered_after_a_reload(open_page: Open) -> None:
    teacher = open_page()
    anna = open_page(new_room(teacher)[1])
    anna.locator(FOLLOWING).wait_for()
    teacher.locator(f"{LANE} .speed").select_option("1")
    teacher.locator("#prompt textarea").fill("Tell a long story about Mia the fox.")
    before = anna.locator(LANE).get_attribute("data-run")
    teacher.locator("#run").click()
    expect(anna.locator(LANE)).not_to_have_attribute("data-run", before or "")  # the recording has new tokens too
    anna.locator(f"{LANE}[data-run] .s-new").first.wait_for(state="attached")
    teacher.reload()
    teacher.locator("#denoise[data-ready][data-room=teaching][data-phase=running]").wait_for()
    teacher.locator("#cancel").click()
    teacher.locator("#denoise[data-phase=idle]").wait_for()
    expect(anna.locator(f"{LANE} .canvas-edge").last).to_contain_text("cancelled")
    see_the_same(teacher, anna)


def test_a_dropped_phone_catches_up(open_page: Open) -> None:
    teacher = open_page()
    phone = open_page(new_room(teacher)[1], **PHONE)
    phone.locator(FOLLOWING).wait_for()
    phone.context.set_offline(True)
    phone.evaluate("window.dispatchEvent(new Event('offline'))")
    teacher.locator("#prompt textarea").fill("What is 47 + 38?")
    teacher.locator(f"{LANE} .speed").select_option("null")
    before = teacher.locator(LANE).get_attribute("data-run")
    teacher.locator("#run").click()
    expect(teacher.locator(LANE)).not_to_have_attribute("data-run", before or "")
    teacher.locator("#denoise[data-phase=idle]").wait_for()
    go_to(teacher, 1)
    phone.context.set_offline(False)
    see_the_same(teacher, phone)


def test_the_teacher_leads_from_two_devices(open_page: Open) -> None:
    desk = open_page()
    _, link, token = new_room(desk)
    anna = open_page(link.lower())
    anna.locator(FOLLOWING).wait_for()
    hand = open_page(f"{link}&teach={token}", **PHONE)
    hand.locator("#denoise[data-room=teaching]").wait_for()
    assert token not in hand.url
    hand.locator("#prompt textarea").fill("What is 47 + 38?")
    hand.locator(f"{LANE} .speed").select_option("null")
    hand.locator("#run").tap()
    hand.locator("#denoise[data-phase=idle]").wait_for()
    go_to(hand, 1)
    see_the_same(hand, desk, anna)
    go_to(desk, 2)
    see_the_same(desk, hand, anna)
    go_to(hand, 0)
    see_the_same(hand, desk, anna)


def test_a_code_may_be_typed_as_it_comes(open_page: Open) -> None:
    teacher = open_page()
    code, _, _ = new_room(teacher)
    teacher.get_by_role("button", name=f"Room {code}").click()
    teacher.get_by_role("button", name="Show it large").click()
    expect(teacher.locator(".code-letters")).to_have_text(code)
    expect(teacher.locator(".code-count")).to_have_text("Nobody is here yet.")
    anna = open_page()
    anna.get_by_role("button", name="Room", exact=True).click()
    field = anna.get_by_label("Code of the room")
    field.fill("KO0L1")
    field.press("Enter")
    expect(anna.locator(".room-note")).to_contain_text("never 0, 1, I, L or O")
    field.fill(f" {code[:2].lower()} {code[2:].lower()} ")
    field.press("Enter")
    anna.locator(FOLLOWING).wait_for()
    expect(teacher.locator(".code-count")).to_have_text("1 student is here.")
    teacher.keyboard.press("Escape")
    expect(teacher.locator(".code-sheet")).to_be_hidden()


def test_a_link_to_no_room_says_so(open_page: Open, server_url: str) -> None:
    page = open_page(f"{server_url}#room=ZZZZZ")
    expect(page.locator(".room-panel")).to_contain_text("There is no room with this code")
    page.goto("about:blank")
    page.goto(f"{server_url}#room=zz")
    expect(page.locator(".notice")).to_contain_text("ask for the code")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_is_held_against_a_room_and_a_lesson(open_page: Open, server_url: str, scheme: str) -> None:
    teacher = open_page(f"{server_url}#lesson=when-to-stop&part=2", color_scheme=scheme, reduced_motion="reduce")
    teacher.locator(".lesson:visible").wait_for()
    code, link, _ = new_room(teacher)
    teacher.locator(f"{LANE}[data-run]").wait_for()
    go_to(teacher, 2)
    student = open_page(link, color_scheme=scheme, reduced_motion="reduce")
    student.locator(FOLLOWING).wait_for()
    teacher.get_by_role("button", name="Ask: what is accepted next?").click()
    student.locator(".question:visible").wait_for()
    student.locator(f"{LANE} .t.s-draft:visible").first.click()
    expect(teacher.locator(".question")).to_contain_text("1 answer")
    teacher.get_by_role("button", name="Show the answer").click()
    student.locator(".votes li").wait_for()
    assert serious(student) == []
    student.get_by_role("button", name="Step out").click()
    assert serious(student) == []
    teacher.get_by_role("button", name=f"Room {code}").click()
    teacher.locator(".room-qr:visible").wait_for()
    assert serious(teacher) == []
