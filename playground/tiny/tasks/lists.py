"""Lists without repeats, repeated words, JSON from fields."""

import json
from random import Random

from playground.tiny.tasks.task import Family, Task
from playground.tiny.tasks.words import ANIMALS, CITIES, COLORS, FRUITS, KINDS, NAMES, WORDS


def _list(rng: Random) -> Task:
    kind = rng.choice(sorted(KINDS))
    count = rng.randint(2, 4)
    without = sorted(rng.sample(KINDS[kind], rng.randint(0, 2)))
    items = rng.sample([word for word in KINDS[kind] if word not in without], count)
    but = f", but not {' or '.join(without)}" if without else ""
    prompt = rng.choice((f"List {count} {kind}{but}.", f"Name {count} {kind}{but}."))
    answer = "\n".join(f"{i}. {item}" for i, item in enumerate(items, 1))
    data = {"kind": kind, "count": count, "without": without}
    return Task("list", prompt, answer, prompt, data=data)


def _check_list(task: Task, text: str) -> bool:
    """As many numbered items of the kind as asked for, none of them twice, none that was ruled out."""
    items: list[str] = []
    for i, line in enumerate(text.split("\n"), 1):
        number, dot, item = line.partition(". ")
        if not dot or number != str(i):
            return False
        items.append(item)
    allowed = set(KINDS[task.data["kind"]]) - set(task.data["without"])
    return len(items) == task.data["count"] == len(set(items)) and set(items) <= allowed


def _repeat(rng: Random) -> Task:
    word, count = rng.choice(WORDS), rng.randint(2, 6)
    prompt = rng.choice((f"Repeat {word} {count} times.", f"Say {word} {count} times."))
    return Task("repeat", prompt, " ".join([word] * count), f"{word} {count}")


_FIELDS = {"name": NAMES, "city": CITIES, "pet": ANIMALS, "color": COLORS, "fruit": FRUITS}


def _json(rng: Random) -> Task:
    keys = rng.sample(["age", "year", *_FIELDS], rng.randint(2, 4))
    fields: dict[str, str | int] = {}
    for key in keys:
        if key in _FIELDS:
            fields[key] = rng.choice(_FIELDS[key])
        else:
            fields[key] = rng.randint(1, 99) if key == "age" else rng.randint(1900, 2030)
    listed = ", ".join(f"{key} {value}" for key, value in fields.items())
    prompt = rng.choice((f"Make JSON: {listed}", f"Convert to JSON: {listed}", f"As JSON: {listed}"))
    return Task("json", prompt, json.dumps(fields), listed, data={"fields": fields})


def _check_json(task: Task, text: str) -> bool:
    """Valid JSON with the fields, in their order, and nothing else."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    fields: dict[str, str | int] = task.data["fields"]
    return isinstance(value, dict) and list(value.items()) == list(fields.items())


FAMILIES = (
    Family("list", _list, _check_list, weight=1.2, teaches="choices that must differ"),
    Family("repeat", _repeat, weight=0.8),
    Family("json", _json, _check_json, weight=0.9, teaches="a frame first, then its slots"),
)
