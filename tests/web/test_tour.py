"""The lessons over HTTP."""

import json
import shutil
from pathlib import Path

from fastapi.testclient import TestClient

from playground.lessons.library import lessons
from playground.settings import Settings
from playground.web.app import create_app
from tests.lessons.test_reading import GOOD, RECORDED
from tests.web.fake import Fake

TRACE = Path(__file__).parents[2] / "static" / "recordings" / "diffusion.jsonl"


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


def test_a_lesson_shows_a_recording_of_the_folder_as_long_as_it_is_there(fake: Fake, tmp_path: Path) -> None:
    own, recorded = tmp_path / "lessons", tmp_path / "recordings"
    for folder in (own, recorded):
        folder.mkdir()
    (own / "large.md").write_text(RECORDED)
    trace = TRACE.read_text()
    run = json.loads(trace.splitlines()[0])["run"]
    (recorded / "large.jsonl").write_text(trace)
    (recorded / "same.jsonl").write_text(trace.replace(run, "another-run"))
    with TestClient(create_app(Settings(lessons=str(own), recordings=str(recorded)), fake.engine)) as http:
        (lesson,) = [each for each in http.get("/api/lessons").json()["lessons"] if each["name"] == "large"]
        assert (lesson["recording"], lesson["parts"][0]["recording"]) == (run, "another-run")
        assert http.get(f"/api/runs/{lesson['recording']}").json()["recording"] is True
        shutil.rmtree(recorded)
        answer = http.get("/api/lessons").json()
        assert "large" not in [each["name"] for each in answer["lessons"]]
        assert answer["mistakes"][0]["line"] == 3
        shutil.rmtree(own)
        answer = http.get("/api/lessons").json()
        assert len(answer["lessons"]) == len(lessons()[0])
        assert "no such folder" in answer["mistakes"][0]["message"]
