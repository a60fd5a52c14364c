"""A lesson file is read, or says what is wrong with it and in which line."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.events import adapter
from playground.lessons import claims, markdown
from playground.lessons.lesson import Mistake
from playground.lessons.library import lessons
from playground.lessons.reading import parse, read

GOOD = """---
title: Noise
order: 3
controls: prompt, rule
recipe: {"messages": [{"role": "user", "content": "What is 4 + 5?"}],
  "seed": 7, "sampler": {"entropy_bound": 0.2}}
shows: steps >= 1
shows: stop = end_of_turn
---

A word *before* the parts.

## Look

- one
- `<b>` two

```
## not a part
```

## Try

Set it and run.

```recipe
{"sampler": {"max_denoising_steps": 4}}
shows: steps <= base.steps
```

```seen
steps <= 4
```

How many?

- [ ] none
- [x] four

Because N is **four**.
"""


RECORDED = """---
title: A large model
recording: large.jsonl
shows: steps >= 3
---

What it wrote.

## Look

```recording
same.jsonl
shows: tokens = base.tokens
```

## Ours

```recipe
{"messages": [{"role": "user", "content": "What is 4 + 5?"}]}
```
"""


def changed(before: str, after: str) -> str:
    assert before in GOOD
    return GOOD.replace(before, after)


def test_a_lesson_is_read() -> None:
    lesson = parse(GOOD, "noise")
    assert (lesson.name, lesson.title, lesson.order, lesson.minutes) == ("noise", "Noise", 3, 5)
    assert lesson.summary == [["p", ["A word ", ["em", ["before"]], " the parts."]]]
    assert [claim.text for claim in lesson.run.shows] == ["steps >= 1", "stop = end_of_turn"]
    look, then = lesson.parts
    assert look.text == [["ul", [["li", ["one"]], ["li", [["code", ["<b>"]], " two"]]]], ["pre", ["## not a part"]]]
    assert look.run is None
    assert then.run is not None
    assert then.run.recipe.seed == 7
    assert then.run.recipe.sampler.model_dump()["entropy_bound"] == 0.2
    assert then.run.recipe.sampler.max_denoising_steps == 4
    assert [claim.text for claim in then.seen] == ["steps <= 4"]
    assert then.text == [["p", ["Set it and run."]]]
    assert then.then == [["p", ["How many?"]]]
    assert [choice.right for choice in then.choices] == [False, True]
    assert then.because == [["p", ["Because N is ", ["strong", ["four"]], "."]]]
    assert json.loads(json.dumps(lesson.as_json({})))["parts"][1]["recipe"]["seed"] == 7


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "begins with a header"),
        (GOOD.replace("---\n", "", 1), 1, "begins with a header"),
        ("---\ntitle: x\n", 2, "has no end"),
        (changed("title: Noise", "titel: Noise"), 2, "'titel' is not known; a header has title"),
        (changed("title: Noise\n", ""), 8, "title is missing"),
        (changed("order: 3", "order: third"), 3, "order must be a whole number"),
        (changed("order: 3", "order: 3\norder: 4"), 4, "stands twice"),
        (changed("controls: prompt, rule", "controls: prompt, wheel"), 4, "'wheel' is not known"),
        (changed("order: 3", "mode: both"), 3, "mode must be one of"),
        (changed("recipe: {", "# recipe: {").replace('  "seed"', '# "seed"'), 9, "recipe is missing"),
        (changed('"seed": 7,', '"seed": 7'), 6, "not valid JSON"),
        (changed('"seed": 7', '"sede": 7'), 5, "recipe.sede"),
        (changed('"seed": 7', '"seed": -7'), 5, "recipe.seed"),
        (changed('{"entropy_bound": 0.2}', '{"k": 3}'), 5, "recipe.sampler"),
        (changed("steps >= 1", "steps ≥ 1"), 7, "is no claim"),
        (changed("steps >= 1", "step >= 1"), 7, "is no measure"),
        (changed("steps >= 1", "steps >= many"), 7, "neither a number nor a measure"),
        (changed("stop = end", "stop > end"), 8, "stop is a text"),
        (changed("- one", "<script>alert(1)</script>"), 15, "markup"),
        (changed("- one", "- a <b>bold</b> one"), 15, "markup"),
        (changed("- one", "- [one](javascript:alert(1))"), 15, "a link leads to an address with https://"),
        (changed("- one", "- ![one](https://example.org/1.png)"), 15, "cannot have images"),
        (changed("- one", "# one"), 15, "cannot have this"),
        (changed("Set it and run.", "a\n\nb\n<img src=x onerror=alert(1)>"), 27, "markup"),
        (changed("```recipe\n", "```python\n"), 26, "'python' is not known"),
        (changed('{"max_denoising_steps": 4}', '{"max_denoising_steps": 0}'), 27, "max_denoising_steps"),
        (changed("steps <= 4", "stepps <= 4"), 32, "is no measure"),
        (changed("- [x] four", "- [ ] four"), 22, "one right answer"),
        (changed("```seen\nsteps <= 4\n```", "```seen\nsteps <= 4"), 31, "has no end"),
        (changed("```seen\nsteps <= 4", "```seen\nsteps <= base.steps"), 32, "no base"),
        (GOOD.replace("## ", "#### "), 40, "has no part"),
        (changed("order: 3", "order: " + "1" * 5000), 3, "at most 6 digits"),
        (changed('"seed": 7', '"seed": ' + "1" * 5000), 5, "too many digits"),
        (changed('"seed": 7', '"seed": ' + "[" * 50_000), 5, "too many brackets"),
        (changed("steps <= 4\n", "steps <= inf\n"), 32, "no number that a measure can reach"),
        (changed("steps <= 4\n", "steps <= nan\n"), 32, "no number that a measure can reach"),
        (changed("- one", "*" * 500 + "x" + "*" * 500), 15, "marks stand within each other"),
        (changed("```seen\n", "```recording\nx.jsonl\n```\n\n```seen\n"), 31, "one recipe or one recording"),
        (changed("order: 3", "recording: x.jsonl"), 3, "a recipe or a recording"),
        (
            RECORDED.replace("recording: large.jsonl\n", ""),
            4,
            "recipe is missing; every lesson has one, or a recording",
        ),
        (RECORDED.replace("large.jsonl", "../large.jsonl"), 3, "without its folder"),
        (RECORDED.replace("same.jsonl", ".hidden.jsonl"), 11, "without its folder"),
        (RECORDED.replace("same.jsonl", ""), 11, "is named by its file"),
        (RECORDED.replace("steps >= 3", "steps < ar.steps"), 3, "no autoregressive run beside it"),
        (RECORDED.replace("tokens = base.tokens", "ar.tokens > 2"), 11, "no autoregressive run beside it"),
        (RECORDED.replace('"messages": [{"role": "user", "content": "What is 4 + 5?"}]', '"seed": 3'), 19, "messages"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(Mistake) as caught:
        parse(text, "noise")
    assert words in caught.value.message
    assert caught.value.line == line, caught.value


@given(st.text(max_size=400))
def test_no_text_becomes_more_than_known_elements(text: str) -> None:
    """Whatever is written: a tree of known tags and safe addresses, or a mistake."""
    try:
        tree = markdown.tree(text, 1)
    except Mistake:
        return
    waiting = list(tree)
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            continue
        tag, children, *address = node
        assert tag in {*markdown.TAGS.values(), "pre", "code", "br", "a"}
        assert all(each.startswith(("https://", "http://")) for each in address)
        assert len(address) == (tag == "a")
        waiting += children


@given(st.text(max_size=200))
def test_any_text_is_a_lesson_or_a_mistake(text: str) -> None:
    for whole in (text, GOOD + text, "---\n" + text + "\n---\n## x\n"):
        assert 1 <= line_of(whole) <= max(len(whole.splitlines()), 1)


def line_of(text: str) -> int:
    """The line of its mistake; 1 where there is none."""
    try:
        parse(text, "x")
    except Mistake as mistake:
        return mistake.line
    return 1


def test_a_folder_of_ones_own_comes_beside_the_packages(tmp_path: Path) -> None:
    ours, wrong = lessons()
    assert wrong == []
    assert ours
    (tmp_path / "noise.md").write_text(GOOD)
    (tmp_path / f"{ours[0].name}.md").write_text(changed("Noise", "Mine"))
    (tmp_path / "bad.md").write_text("x")
    (tmp_path / "README.md").write_text("no lesson")
    both, wrong = lessons(tmp_path)
    (mistake,) = wrong
    assert str(mistake) == "bad.md, line 1: a lesson begins with a header, and a header with a line `---`."
    assert {lesson.name for lesson in both} == {lesson.name for lesson in ours} | {"noise"}
    assert next(lesson.title for lesson in both if lesson.name == ours[0].name) == "Mine"
    assert "no such folder" in str(lessons(tmp_path / "none")[1][0])
    (tmp_path / "Bad Name.md").write_text(GOOD)
    with pytest.raises(Mistake, match="small letters"):
        read(tmp_path / "Bad Name.md")


def test_claims_compare_measures() -> None:
    measures = {"steps": 4.0, "base.steps": 6.0, "ar.steps": 0.0, "text": "It is 85."}
    for text, holds in [
        ("steps < base.steps", True),
        ("steps = 4", True),
        ("steps > ar.steps", True),
        ("steps >= 5", False),
        ('text contains "85"', True),
        ("text = It is 85.", True),
    ]:
        assert claims.parse(text).holds(measures) is holds, text


def test_a_lesson_may_show_recordings() -> None:
    lesson = parse(RECORDED, "large")
    assert lesson.recordings == ((3, "large.jsonl"), (11, "same.jsonl"))
    page = lesson.as_json({"large.jsonl": "run-1", "same.jsonl": "run-2"})
    assert (page["recipe"], page["recording"]) == (None, "run-1")
    assert [(part["recording"], bool(part["recipe"])) for part in page["parts"]] == [("run-2", False), (None, True)]


def test_a_recording_that_is_not_there_is_a_mistake_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "large.md").write_text(RECORDED)
    assert lessons(tmp_path, {"large.jsonl", "same.jsonl"})[1] == []
    found, (wrong,) = lessons(tmp_path, {"large.jsonl"})
    assert (wrong.file, wrong.line) == ("large.md", 11)
    assert "no recording 'same.jsonl'" in wrong.message
    assert "large" not in [lesson.name for lesson in found]


def test_a_text_may_have_the_names_of_other_runs_in_it() -> None:
    lesson = parse(changed("steps <= 4\n", 'text contains "data base."\n'), "noise")
    assert lesson.parts[1].seen[0].value == "data base."


def test_what_is_no_readable_file_hides_no_lesson(tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text(GOOD)
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    (tmp_path / "long.md").write_text("x" * 500_000)
    (tmp_path / "wild.md").write_bytes(b"\xff\xfe")
    found, wrong = lessons(tmp_path)
    assert "good" in [lesson.name for lesson in found]
    assert [(each.file, each.line) for each in wrong] == [(f"{n}.md", 1) for n in ("folder", "gone", "long", "wild")]


def test_positions_out_of_order_are_counted_in_the_text_alone() -> None:
    """Steps in which each position was accepted first; the recorded run settles its middle before its beginning."""
    assert claims._out_of_order([1, 2, 2, 3]) == 0
    assert claims._out_of_order([3, 1, 3, 2, 4]) == 2
    assert claims._out_of_order([math.inf, 1, 1]) == 2
    trace = Path(__file__).parents[2] / "static" / "recordings" / "diffusion.jsonl"
    found = claims.measure(adapter.validate_json(line) for line in trace.read_text().splitlines())
    assert 1 <= int(found["out_of_order"]) < int(found["tokens"])
