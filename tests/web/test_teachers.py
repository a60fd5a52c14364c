"""Who leads a room: from two devices, away for a while, or with the token of another room."""

import pytest

from tests.web.fake import Fake
from tests.web.live import serving
from tests.web.test_rooms import ANNA, SHOW, enter, hear_question, opened, state


async def test_each_device_of_the_teacher_knows_which_of_them_leads(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as desk, live.connect() as hand, live.connect() as anna:
        room = await opened(live)
        assert (await enter(desk, room, teacher=True))["leads"] is False
        await enter(hand, room, teacher=True)
        await enter(anna, room)
        await hand.say("lead", show=SHOW)
        for client, leads in ((hand, True), (desk, False), (anna, False)):
            seen = await state(client, show=SHOW | {"chosen": None, "noise": False})
            assert seen["leads"] is leads
        await desk.say("lead", starts=False)
        assert (await state(hand, starts=False))["leads"] is True
        await desk.say("lead", show=SHOW | {"playing": True})
        assert (await state(desk, leads=True))["show"]["playing"] is True
        assert (await state(hand, leads=False))["show"]["playing"] is True


async def test_students_answer_while_the_teacher_is_away(fake: Fake) -> None:
    async with serving(fake.engine) as live, live.connect() as anna:
        room = await opened(live)
        async with live.connect() as teacher:
            await enter(teacher, room, teacher=True)
            await enter(anna, room, student=ANNA)
            await teacher.say("ask", run="r", seq=1, positions=4)
            asked = (await hear_question(anna, open=True))["question"]
        await state(anna, teacher=False)
        await anna.say("answer", question=asked["id"], positions=[2])
        await hear_question(anna, yours=[2])
        async with live.connect() as again:
            back = await enter(again, room, teacher=True)
            assert (back["question"]["open"], back["question"]["tally"]) == (True, {"2": 1})
            await anna.say("answer", question=asked["id"] + 1, positions=[2], ref="other")
            while (frame := await anna.hear())["type"] == "room":
                pass
            assert (frame["code"], frame["ref"]) == ("finished", "other")


async def test_the_token_of_a_closed_room_opens_no_later_one(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("playground.web.rooms.secrets.choice", lambda alphabet: alphabet[0])
    async with serving(fake.engine) as live, live.connect() as teacher:
        first = await opened(live)
        await enter(teacher, first, teacher=True)
        await teacher.say("close")
        await state(teacher, open=False)
        second = await opened(live)
        assert second["room"] == first["room"] == "AAAAA"
        await teacher.say("join", room=second["room"], token=first["token"])
        assert (await teacher.hear())["code"] == "forbidden"
