"""Rooms on real sockets: one leads, the others see the same and cannot lead."""

import json
import time
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from tests.web.fake import Fake, recipe
from tests.web.live import Client, Frame, Live, serving, until

ANNA, BEN = "anna-" * 5, "ben--" * 5
SHOW = {"mode": "diffusion", "runs": {"diffusion": "some-run"}, "at": {"diffusion": 7}, "playing": False}


async def opened(live: Live) -> Frame:
    async with httpx.AsyncClient() as http:
        answer = await http.post(f"http://{live.address}/api/rooms", json={"page": f"http://{live.address}/"})
    assert answer.status_code == 201, answer.text
    room: Frame = answer.json()
    return room


async def state(client: Client, **expected: Any) -> Frame:
    """The first state of the room that is as expected; states in between may be left out or not."""
    while True:
        frame = await client.hear()
        assert frame["type"] == "room", frame
        if expected.items() <= frame.items():
            return frame


async def enter(client: Client, room: Frame, teacher: bool = False, **fields: Any) -> Frame:
    await client.say("join", room=room["room"], ref="in", **({"token": room["token"]} if teacher else {}), **fields)
    return await state(client, ref="in")


async def test_what_the_teacher_shows_reaches_students_and_who_comes_late(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as teacher, live.connect() as anna:
        room = await opened(live)
        assert (await enter(teacher, room, teacher=True))["role"] == "teacher"
        first = await enter(anna, room, student=ANNA)
        assert (first["role"], first["students"], first["teacher"]) == ("student", 1, True)
        await teacher.say("lead", show=SHOW, lesson={"name": "noise", "part": 2})
        seen = await state(anna, lesson={"name": "noise", "part": 2})
        assert seen["show"] == SHOW | {"chosen": None, "noise": False}
        async with live.connect() as ben:
            late = await enter(ben, room, student=BEN)
            assert late["show"] == seen["show"]
            assert late["lesson"] == seen["lesson"]
            await state(teacher, students=2)
        await state(teacher, students=1)
        await teacher.say("lead", lesson="none")
        assert (await state(anna, lesson=None))["show"] == seen["show"]


async def test_the_token_reaches_no_student(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as teacher, live.connect() as anna:
        room = await opened(live)
        await enter(teacher, room, teacher=True)
        heard = [await enter(anna, room)]
        await teacher.say("lead", show=SHOW)
        heard.append(await state(anna, show=SHOW | {"chosen": None, "noise": False}))
        async with httpx.AsyncClient(base_url=f"http://{live.address}") as http:
            pages = [await http.get(f"/api/rooms/{room['room']}"), await http.get(f"/api/rooms/{room['room']}/qr.svg")]
        assert room["token"] not in json.dumps(heard) + "".join(page.text for page in pages)
        assert room["token"] not in room["link"]


@pytest.mark.parametrize(
    ("type", "fields"),
    [
        ("lead", {"show": SHOW}),
        ("lead", {"starts": True}),
        ("ask", {"run": "r", "seq": 1, "positions": 64}),
        ("tally", {}),
        ("close", {}),
    ],
)
async def test_a_student_cannot_drive(fake: Fake, type: str, fields: Frame) -> None:
    async with serving(fake.engine) as live, live.connect() as anna:
        room = await opened(live)
        before = await enter(anna, room)
        await anna.say(type, **fields, ref=1)
        refusal = await anna.hear()
        assert (refusal["code"], refusal["ref"]) == ("forbidden", 1)
        assert await enter(anna, room) == before


async def test_only_the_rooms_own_token_makes_a_teacher(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as client:
        room, other = await opened(live), await opened(live)
        for token in ("", "nonsense", room["token"][:-1], room["token"] + "x", other["token"]):
            await client.say("join", room=room["room"], token=token)
            refusal = await client.hear()
            assert (refusal["code"], refusal["field"]) == ("forbidden", "token")
        assert (await enter(client, room, teacher=True))["role"] == "teacher"


async def test_the_teacher_decides_whether_students_start_runs(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as teacher, live.connect() as anna:
        room = await opened(live)
        await enter(teacher, room, teacher=True)
        assert (await enter(anna, room))["starts"] is True
        await teacher.say("lead", starts=False)
        await state(anna, starts=False)
        await anna.say("start", recipe=recipe(), ref="mine")
        refusal = await anna.hear()
        assert (refusal["code"], refusal["ref"]) == ("forbidden", "mine")
        await state(teacher, starts=False)
        await teacher.start(recipe())
        await teacher.follow()
        await teacher.say("lead", starts=True)
        await state(anna, starts=True)
        await anna.start(recipe())


async def test_a_question_is_tallied_and_shown_when_the_teacher_shows_it(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as teacher, live.connect() as anna, live.connect() as ben:
        room = await opened(live)
        await enter(teacher, room, teacher=True)
        await enter(anna, room, student=ANNA)
        await enter(ben, room, student=BEN)
        await teacher.say("ask", run="some-run", seq=7, positions=64)
        asked = (await hear_question(anna, answers=0))["question"]
        assert (asked["run"], asked["seq"], asked["open"], asked["tally"]) == ("some-run", 7, True, None)
        await anna.say("answer", question=asked["id"], positions=[3, 5])
        await hear_question(ben, answers=1)
        await ben.say("answer", question=asked["id"], positions=[5])
        await ben.say("answer", question=asked["id"], positions=[9, 5, 9])
        mine = await hear_question(ben, yours=[5, 9])
        assert mine["question"]["tally"] is None
        counted = await hear_question(teacher, tally={"3": 1, "5": 2, "9": 1})
        assert counted["question"]["answers"] == 2
        await teacher.say("tally")
        shown = await hear_question(anna, open=False)
        assert shown["question"]["tally"] == {"3": 1, "5": 2, "9": 1}
        assert shown["question"]["yours"] == [3, 5]
        await anna.say("answer", question=asked["id"], positions=[1])
        assert (await anna.hear())["code"] == "finished"
        await teacher.say("tally", shown=False)
        await state(anna, question=None)


async def hear_question(client: Client, **expected: Any) -> Frame:
    while True:
        frame = await client.hear()
        if frame["question"] and expected.items() <= frame["question"].items():
            return frame


async def test_who_comes_back_is_the_same_student(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as teacher:
        room = await opened(live)
        await enter(teacher, room, teacher=True)
        await teacher.say("ask", run="r", seq=1, positions=4)
        async with live.connect() as first:
            asked = (await enter(first, room, student=ANNA))["question"]
            await first.say("answer", question=asked["id"], positions=[2])
            await hear_question(first, yours=[2])
        async with live.connect() as again:
            assert (await enter(again, room, student=ANNA))["question"]["yours"] == [2]
            await again.say("answer", question=asked["id"], positions=[3])
            assert (await hear_question(teacher, tally={"3": 1}))["question"]["answers"] == 1
            await again.say("answer", question=asked["id"], positions=[4], ref=9)
            while (frame := await again.hear())["type"] == "room":
                pass
            assert (frame["code"], frame["field"]) == ("bad_request", "positions.0")


async def test_a_slow_student_gets_the_newest_state_and_no_heap_of_old_ones(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as teacher, live.connect(max_queue=1) as anna:
        room = await opened(live)
        await enter(teacher, room, teacher=True)
        await enter(anna, room)
        for seq in range(3000):
            await teacher.say("lead", show=SHOW | {"at": {"diffusion": seq}})
        last = await state(teacher, show=SHOW | {"at": {"diffusion": 2999}, "chosen": None, "noise": False})
        heard = 0
        while (await anna.hear())["show"] != last["show"]:
            heard += 1
        assert heard < 3000


async def test_a_room_ends_with_its_teacher_or_when_nobody_is_in_it(fake: Fake) -> None:
    async with serving(fake.engine, room_seconds=0.05) as live, live.connect() as teacher, live.connect() as anna:
        room = await opened(live)
        await enter(teacher, room, teacher=True)
        await enter(anna, room)
        await teacher.say("close")
        assert (await state(anna, open=False))["room"] == room["room"]
        await anna.say("answer", question=1, positions=[])
        assert (await anna.hear())["code"] == "bad_request"
        await anna.say("join", room=room["room"])
        assert (await anna.hear())["code"] == "unknown_room"
        left = await opened(live)
        await enter(anna, left)
        await anna.say("leave")
        await until(lambda: len(live.site.rooms) == 0)


async def test_limits_of_rooms(fake: Fake) -> None:
    async with serving(fake.engine, max_rooms=1, max_students=1) as live:
        async with live.connect() as anna, live.connect() as ben, live.connect() as teacher:
            room = await opened(live)
            await enter(anna, room, student=ANNA)
            await ben.say("join", room=room["room"], student=BEN)
            assert (await ben.hear())["code"] == "busy"
            await enter(ben, room, student=ANNA)
            await enter(teacher, room, teacher=True)
        async with httpx.AsyncClient(base_url=f"http://{live.address}") as http:
            page = {"page": f"http://{live.address}/"}
            assert (await http.post("/api/rooms", json=page)).json()["code"] == "busy"
            codes = [(await http.get("/api/rooms/ZZZZZ")).json()["code"] for _ in range(61)]
            assert codes == ["unknown_room"] * 60 + ["busy"]


async def test_the_link_is_the_servers_own_page(fake: Fake) -> None:
    async with serving(fake.engine) as live, httpx.AsyncClient(base_url=f"http://{live.address}") as http:
        for page in ("https://elsewhere.example/", "javascript:alert(1)", "http://[", f"http://a@{live.address}/"):
            answer = await http.post("/api/rooms", json={"page": page})
            assert answer.json()["field"] == "page", answer.text
        foreign = {"Origin": "https://elsewhere.example"}
        answer = await http.post("/api/rooms", json={"page": f"http://{live.address}/"}, headers=foreign)
        assert answer.status_code == 403
        deep = await http.post("/api/rooms", json={"page": f"http://{live.address}/deep/page/?x=1#s"})
        room = deep.json()
        assert room["link"] == f"http://{live.address}/deep/page/#room={room['room']}"
        assert room["reachable"] is False
        image = await http.get(f"/api/rooms/{room['room']}/qr.svg")
        assert image.headers["content-type"] == "image/svg+xml"
        assert image.text.startswith("<svg")


async def test_a_server_that_all_can_reach_names_its_own_address(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("playground.web.classroom._own_address", lambda: "198.51.100.7")
    async with serving(fake.engine, host="0.0.0.0") as live:
        room = await opened(live)
    port = live.address.rpartition(":")[2]
    assert room["link"] == f"http://198.51.100.7:{port}/#room={room['room']}"
    assert room["reachable"] is True


@pytest.mark.parametrize(
    ("frame", "field"),
    [
        ({"type": "join"}, None),
        ({"type": "join", "run": "r", "room": "ABCDE"}, None),
        ({"type": "join", "room": "abcde"}, "room"),
        ({"type": "join", "run": "r", "token": "t"}, None),
        ({"type": "lead", "show": {"runs": {"other": "r"}}}, "show.runs.other"),
        ({"type": "lead", "show": {"at": {"diffusion": -2}}}, "show.at.diffusion"),
        ({"type": "lead", "lesson": {"name": "../x"}}, "lesson"),
        ({"type": "answer", "question": 1, "positions": list(range(9))}, "positions"),
        ({"type": "lead", "shown": 1}, "shown"),
    ],
)
async def test_a_wrong_message_names_its_field(fake: Fake, frame: Frame, field: str | None) -> None:
    async with serving(fake.engine) as live, live.connect() as client:
        await client.say(**frame, ref=1)
        refusal = await client.hear()
        assert (refusal["code"], refusal["ref"]) == ("bad_request", 1)
        assert (refusal["field"] or "").startswith(field or ""), refusal


async def test_thirty_follow_within_half_a_second(fake: Fake) -> None:
    """The newest position reaches each of thirty students; docs/LOG.md has the times with a model at work."""
    waits = []
    async with AsyncExitStack() as stack:
        live = await stack.enter_async_context(serving(fake.engine))
        room = await opened(live)
        teacher = await stack.enter_async_context(live.connect())
        await enter(teacher, room, teacher=True)
        students = [await stack.enter_async_context(live.connect()) for _ in range(30)]
        for student in students:
            await enter(student, room)
        for seq in range(20):
            said = time.perf_counter()
            await teacher.say("lead", show=SHOW | {"at": {"diffusion": seq}})
            for student in students:
                await state(student, show=SHOW | {"at": {"diffusion": seq}, "chosen": None, "noise": False})
                waits.append(time.perf_counter() - said)
    assert sorted(waits)[int(0.95 * len(waits))] <= 0.5
