"""The lessons over HTTP."""

from pathlib import Path

from fastapi.testclient import TestClient

from playground.lessons.library import lessons
from playground.settings import Settings
from playground.web.app import create_app
from tests.lessons.test_reading import GOOD
from tests.web.fake import Fake


def test_lessons_and_mistakes_are_listed_and_read_anew(fake: Fake, tmp_path: Path) -> None:
    with TestClient(create_app(Settings(lessons=str(tmp_path)), fake.engine)) as http:
        (tmp_path / "mine.md").write_text(GOOD)
        answer = http.get("/api/lessons").json()
        names = [lesson["name"] for lesson in answer["lessons"]]
        assert set(names) == {lesson.name for lesson in lessons()[0]} | {"mine"}
        assert answer["mistakes"] == []
        mine = answer["lessons"][names.index("mine")]
        assert mine["parts"][1]["recipe"]["sampler"]["max_denoising_steps"] == 4
        assert mine["parts"][1]["seen"] == [{"measure": "steps", "operator": "<=", "value": 4.0, "text": "steps <= 4"}]
        (tmp_path / "mine.md").write_text("nothing")
        answer = http.get("/api/lessons").json()
        assert [lesson["name"] for lesson in answer["lessons"]] == [name for name in names if name != "mine"]
        assert [(wrong["file"], wrong["line"]) for wrong in answer["mistakes"]] == [("mine.md", 1)]
