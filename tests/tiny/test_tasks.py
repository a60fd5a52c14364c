from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.tiny.tasks import FAMILIES, Task, check, held_out_set, is_held_out, sample, sample_mixture
from playground.tiny.tasks.arithmetic import column_addition
from playground.tiny.tasks.knowledge import COLORED, OPPOSITES
from playground.tiny.tasks.numbers import selection_sort, tally
from playground.tiny.tasks.sudoku import dig, renamed, solutions, solved_grid

MANY = 60


@pytest.mark.parametrize("family", FAMILIES)
def test_generator_and_checker_agree(family: str) -> None:
    rng = Random(3)
    for _ in range(MANY):
        task = FAMILIES[family].make(rng)
        assert task.family == family
        assert check(task, task.answer), task
        for wrong in ("", task.answer + "x", "x" + task.answer, task.answer[:-1]):
            assert not check(task, wrong), (task, wrong)


@pytest.mark.parametrize("family", FAMILIES)
def test_held_out_and_trained_instances_are_disjoint(family: str) -> None:
    held_out = held_out_set(family, MANY)
    assert all(is_held_out(task) for task in held_out)
    rng = Random(5)
    trained = [sample(family, rng, "train") for _ in range(4 * MANY)]
    assert not any(is_held_out(task) for task in trained)
    assert not {task.instance for task in held_out} & {task.instance for task in trained}


def test_held_out_sets_repeat_and_differ_by_seed() -> None:
    assert held_out_set("story", 5) == held_out_set("story", 5)
    assert held_out_set("story", 5) != held_out_set("story", 5, seed=1)


def test_the_instance_of_a_sum_is_its_numbers_not_its_phrasing() -> None:
    rng = Random(0)
    tasks = [FAMILIES["add"].make(rng) for _ in range(4000)]
    one_sided = [task for task in tasks if task.instance == "3+7"]
    assert len({task.prompt for task in one_sided}) > 1


def test_there_are_at_least_eighteen_families_and_some_think() -> None:
    assert len(FAMILIES) >= 18
    rng = Random(0)
    assert sum(FAMILIES[name].make(rng).thinking for name in FAMILIES) >= 3


def test_the_mixture_draws_training_instances_of_every_family() -> None:
    rng = Random(1)
    tasks = [sample_mixture(rng) for _ in range(2500)]
    assert {task.family for task in tasks} == set(FAMILIES)
    assert not any(is_held_out(task) for task in tasks)
    only = [sample_mixture(rng, dict.fromkeys(FAMILIES, 0.0) | {"spell": 1.0}) for _ in range(5)]
    assert {task.family for task in only} == {"spell"}


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_column_addition_ends_with_the_first_digits(a: int, b: int) -> None:
    last = column_addition(a, b).split("\n")[-1]
    assert str(a + b).startswith(last.split("=")[1])


@pytest.mark.parametrize(("family", "twin"), [("add", "think_add"), ("sort", "think_sort"), ("count", "think_count")])
def test_what_two_families_ask_is_held_out_of_both_or_of_neither(family: str, twin: str) -> None:
    """Each question is named the same way from both sides, so neither trains on what the other holds out."""

    def names(task: Task) -> frozenset[tuple[str, str] | None]:
        return frozenset({(task.family, task.instance), task.twin})

    rng = Random(3)
    for one, other in ((family, twin), (twin, family)):
        held = {names(sample(one, rng, "held_out")) for _ in range(MANY)}
        trained = {names(sample(other, rng, "train")) for _ in range(50 * MANY)}
        assert not held & trained
    both = {names(FAMILIES[family].make(rng)) for _ in range(100 * MANY)}
    assert both & {names(FAMILIES[twin].make(rng)) for _ in range(100 * MANY)}, "some questions are asked by both"


def test_small_talk_as_it_stands_is_always_trained() -> None:
    assert not is_held_out(Task("chat", "Hi", "Hello!", "as it stands"))


def test_scratch_work() -> None:
    assert column_addition(47, 38) == "7+8=15\n4+3+1=8"
    assert selection_sort([5, 2, 9]) == "2: 5 9\n5: 9"
    assert tally(["cat", "dog"]) == "1 cat, 2 dog"


def test_opposites_go_both_ways_and_facts_are_distinct() -> None:
    assert all(OPPOSITES[OPPOSITES[word]] == word for word in OPPOSITES)
    assert len(COLORED) == len(set(COLORED))


@pytest.mark.parametrize(("size", "most"), [(4, 10), (6, 14)])
def test_puzzles_have_one_solution_and_start_empty(size: int, most: int) -> None:
    rng = Random(2)
    top = bottom = 0
    for _ in range(20):
        solution = solved_grid(rng, size)
        puzzle = dig(rng, solution, size, most)
        assert solutions(puzzle, size) == [solution]
        top += puzzle[: len(puzzle) // 2].count(0)
        bottom += puzzle[len(puzzle) // 2 :].count(0)
    assert top > bottom


def test_a_contradictory_puzzle_has_no_solution_and_an_empty_one_has_many() -> None:
    assert solutions([1, 1] + [0] * 14, 4) == []
    assert len(solutions([0] * 16, 4, limit=5)) == 5


def test_puzzles_that_differ_in_the_names_of_digits_are_one_instance() -> None:
    assert renamed([0, 3, 1, 3]) == renamed([0, 2, 4, 2]) == "0121"


def _task(family: str, seed: int = 0) -> Task:
    return FAMILIES[family].make(Random(seed))


def test_story_checker_wants_the_ending_and_consistent_names() -> None:
    task = next(t for s in range(50) if (t := _task("story", s)).data["ending"] == "happily")
    name = task.data["given"]["n"]
    assert not check(task, task.answer.replace(f"In the end {name} was happy.", f"{name} slept."))
    assert not check(task, task.answer.replace(f"end {name}", "end Zoe" if name != "Zoe" else "end Max"))


def test_long_story_checker_looks_over_the_edge() -> None:
    task = _task("long_story")
    friend = task.data["given"]["o"]
    other = "Zoe" if friend != "Zoe" else "Max"
    first, second = task.answer.split("\n")
    assert not check(task, first + "\n" + second.replace(friend, other))
    assert not check(task, first)


def test_list_checker_refuses_repeats_and_what_was_ruled_out() -> None:
    task = next(t for s in range(50) if (t := _task("list", s)).data["without"] and t.data["count"] == 2)
    first = task.answer.split("\n")[0].removeprefix("1. ")
    assert not check(task, f"1. {first}\n2. {first}")
    assert not check(task, f"1. {first}\n2. {task.data['without'][0]}")


def test_verse_checker_wants_rhymes() -> None:
    task = _task("verse")
    lines = task.answer.split("\n")
    lines[1] = lines[1].rsplit(" ", 1)[0] + " window;"
    assert not check(task, "\n".join(lines))
    lines[1] = lines[1].rsplit(" ", 1)[0] + " " + lines[0].rsplit(" ", 1)[1].replace(",", ";")
    assert not check(task, "\n".join(lines))


def test_json_checker_takes_other_spacing_but_not_other_order() -> None:
    task = next(t for s in range(50) if len((t := _task("json", s)).data["fields"]) > 1)
    assert check(task, task.answer.replace(": ", ":"))
    fields = dict(reversed(list(task.data["fields"].items())))
    assert not check(task, str(fields).replace("'", '"'))
