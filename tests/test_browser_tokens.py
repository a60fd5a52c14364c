"""How long an answer the page asks for: what its slider offers, what a link may ask for, what the server allows."""

from playwright.sync_api import Page, expect

from tests.conftest import serving
from tests.test_browser import SUM, events, finished, run
from tests.test_browser_conversation import TURNS, ran
from tests.watching import visit, watched


def test_a_link_may_ask_for_more_tokens_than_the_slider_offers(page: Page, server_url: str) -> None:
    slider, box = (page.locator(f"#max_new_tokens input[type={kind}]") for kind in ("range", "number"))
    with watched(page, server_url):
        visit(page, server_url)
        expect(slider).to_have_attribute("max", "1024")
    log = ran(server_url, {"messages": TURNS[-1:], "max_new_tokens": 1500})
    with watched(page, server_url):
        visit(page, f"{server_url}#run={log[0]['run']}")
        expect(slider).to_have_attribute("max", "1500")
        expect(box).to_have_value("1500")


def test_what_the_operator_allows_is_what_the_page_begins_with(page: Page) -> None:
    with serving(PLAYGROUND_MAX_NEW_TOKENS="100") as url, watched(page, url):
        visit(page, url)
        expect(page.locator("#max_new_tokens input[type=range]")).to_have_attribute("max", "100")
        expect(page.locator("#max_new_tokens input[type=number]")).to_have_value("100")
        run(page, SUM)
        finished(page)
        assert events(page, url)[0]["recipe"]["max_new_tokens"] == 100
