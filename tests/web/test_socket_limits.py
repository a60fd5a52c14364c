"""The socket, with a real server and client; the engine is a fake whose passes can be held back."""

import pytest
from websockets.exceptions import ConnectionClosed

from tests.web.fake import Fake, recipe
from tests.web.live import serving, until


async def test_too_many_sockets_are_told_so(fake: Fake) -> None:
    async with serving(fake.engine, max_sockets=1) as live:
        async with live.connect() as first:
            await first.quiet()
            async with live.connect() as second:
                assert (await second.hear())["code"] == "busy"
                with pytest.raises(ConnectionClosed) as closed:
                    await second.hear()
                assert closed.value.rcvd is not None
                assert closed.value.rcvd.code == 1013
        await until(lambda: live.site.limits.sockets == 0)
        async with live.connect() as third:
            await third.quiet()


async def test_starts_are_limited_by_socket_and_by_address(fake: Fake) -> None:
    async with (
        serving(fake.engine, max_runs_per_socket=1, starts_per_minute=2) as live,
        live.connect() as one,
        live.connect() as two,
        live.connect() as three,
    ):
        await one.start(recipe(), steps_per_second=1)
        await one.hear(), await one.hear()
        await one.say("start", recipe=recipe(), ref=1)
        error = await one.hear()
        assert (error["code"], error["ref"]) == ("busy", 1)
        assert "This socket already has 1 run" in error["message"]
        await two.start(recipe(), steps_per_second=1)
        await three.say("start", recipe=recipe(), ref=3)
        error = await three.hear()
        assert (error["code"], error["ref"]) == ("busy", 3)
        assert "2 starts a minute" in error["message"]


async def test_addresses_are_those_that_a_trusted_proxy_tells(fake: Fake) -> None:
    def behind(address: str) -> dict[str, str]:
        return {"X-Forwarded-For": address}

    async with (
        serving(fake.engine, starts_per_minute=1) as live,
        live.connect(additional_headers=behind("192.0.2.1")) as one,
        live.connect(additional_headers=behind("192.0.2.2")) as two,
        live.connect(additional_headers=behind("192.0.2.1")) as three,
    ):
        await one.start(recipe())
        await two.start(recipe())
        await three.say("start", recipe=recipe())
        assert (await three.hear())["code"] == "busy"


async def test_a_full_house_refuses_further_runs(fake: Fake) -> None:
    async with serving(fake.engine, max_runs=1, max_waiting=0) as live, live.connect() as client:
        await client.start(recipe(), steps_per_second=1)
        await client.hear(), await client.hear()
        await client.say("start", recipe=recipe(), ref=1)
        error = await client.hear()
        assert (error["code"], error["ref"]) == ("busy", 1)
