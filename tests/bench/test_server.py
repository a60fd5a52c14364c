import sys
import urllib.request

import pytest

from playground.bench import server

HEALTHY = """
import http.server, os
class Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"status": "ready", "said": "%s"}' % os.environ["SAID"].encode())
http.server.HTTPServer((os.environ["PLAYGROUND_HOST"], int(os.environ["PLAYGROUND_PORT"])), Ready).serve_forever()
"""


def test_a_server_is_there_for_a_block_and_gone_after_it() -> None:
    with (
        server.running([sys.executable, "-c", HEALTHY], {"SAID": "hello"}, quiet=True) as url,
        urllib.request.urlopen(f"{url}health") as response,
    ):
        assert b"hello" in response.read()
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"{url}health")


def test_a_server_that_ends_is_said_with_its_status() -> None:
    with (
        pytest.raises(RuntimeError, match="ended with status 3 before"),
        server.running([sys.executable, "-c", "raise SystemExit(3)"], {}),
    ):
        raise AssertionError("there is nothing to look at")
