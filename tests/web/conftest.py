import pytest

from tests.web.fake import Fake


@pytest.fixture
def fake() -> Fake:
    return Fake()
