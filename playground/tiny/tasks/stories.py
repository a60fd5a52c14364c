"""Short stories that use given names and end a given way, and long ones over two canvases."""

import re
from collections.abc import Mapping, Sequence
from random import Random

from playground.tiny.tasks.task import Family, Task
from playground.tiny.tasks.words import ANIMALS, COLORS, MOODS, NAMES, PLACES, THINGS

# Slots: n the hero's name, a its kind, m its mood, p its home, c and t a colour and a thing, b the other animal.
OPENINGS = (
    "{n} was a {m} {a} who lived in the {p}.",
    "In the {p} lived a {m} {a} named {n}.",
    "Once there was a {m} {a} called {n} in the {p}.",
)
FINDINGS = (
    "One day {n} found a {c} {t} by the road.",
    "One morning {n} lost a {c} {t}.",
    "{n} dreamt of a {c} {t} every night.",
)
MEETINGS = (
    "A {b} came by and asked about the {t}.",
    "Then a {b} wanted to have the {t}.",
    "A {b} told {n} that the {t} was magic.",
)
TURNS = (
    "{n} gave the {t} to the {b}.",
    "{n} and the {b} hid the {t} under a tree.",
    "The {b} helped {n} to carry the {t} home.",
)
ENDINGS: dict[str, str] = {
    "happily": "In the end {n} was happy.",
    "with sleep": "That night {n} slept well in the {p}.",
    "with friends": "Since then the {a} and the {b} are friends.",
    "with a song": "And {n} sang a song about the {t}.",
}
_SLOTS: dict[str, Sequence[str]] = {
    "n": NAMES,
    "a": ANIMALS,
    "m": MOODS,
    "p": PLACES,
    "c": COLORS,
    "t": THINGS,
    "b": ANIMALS,
    "o": NAMES,
    "q": PLACES,
    "u": THINGS,
    "k": MOODS,
}
# The second paragraph of a long story; o is the friend's name, q and u a new place and thing, k a mood.
SEQUEL = (
    "The next day {n} met {o}, a {k} friend of the {b}.",
    "{n} and {o} walked from the {p} to the {q}.",
    "There {o} found a {u} and gave it to {n}.",
    "They put the {u} beside the {t} and danced.",
    "At last the {a} went home to the {p}, and {o} stayed in the {q}.",
)


def _pattern(sentence: str) -> re.Pattern[str]:
    """The sentence as a pattern; a slot used twice in it must be filled alike."""
    seen: set[str] = set()
    parts: list[str] = []
    for part in re.split(r"(\{\w\})", sentence):
        if not re.fullmatch(r"\{\w\}", part):
            parts.append(re.escape(part))
            continue
        slot = part[1]
        parts.append(f"(?P={slot})" if slot in seen else f"(?P<{slot}>{'|'.join(_SLOTS[slot])})")
        seen.add(slot)
    return re.compile("".join(parts))


_STORY = [[_pattern(s) for s in choices] for choices in (OPENINGS, FINDINGS, MEETINGS, TURNS)]
_ENDINGS = {name: _pattern(sentence) for name, sentence in ENDINGS.items()}
_SEQUEL = [[_pattern(s)] for s in SEQUEL]


def _slots(rng: Random) -> dict[str, str]:
    animal, other = rng.sample(ANIMALS, 2)
    name, friend = rng.sample(NAMES, 2)
    home, away = rng.sample(PLACES, 2)
    thing, gift = rng.sample(THINGS, 2)
    return {
        "n": name,
        "o": friend,
        "a": animal,
        "b": other,
        "p": home,
        "q": away,
        "t": thing,
        "u": gift,
        "c": rng.choice(COLORS),
        "m": rng.choice(MOODS),
        "k": rng.choice(MOODS),
    }


def _tell(rng: Random, slots: Mapping[str, str], ending: str) -> str:
    sentences = [rng.choice(choices) for choices in (OPENINGS, FINDINGS, MEETINGS, TURNS)] + [ENDINGS[ending]]
    return " ".join(s.format(**slots) for s in sentences)


_FREE = (
    ("Tell a story about {n} the {a}.", "na"),
    ("Tell a story about a {a} named {n}.", "na"),
    ("Tell me a story about a {a}.", "a"),
    ("Write a short story about {n}.", "n"),
    ("Write a story about a {a} in the {p}.", "ap"),
)
_ENDED = (
    ("Tell a story about {n} the {a} that ends {ending}.", "na"),
    ("Write a story about {n} the {a} in the {p} that ends {ending}.", "nap"),
    ("Tell a story about {n}, a {a}, and a {c} {t}. It ends {ending}.", "nact"),
)


def _story(rng: Random) -> Task:
    slots = _slots(rng)
    ending = rng.choice(sorted(ENDINGS))
    free = rng.random() < 0.3
    prompt, names = rng.choice(_FREE if free else _ENDED)
    given = {slot: slots[slot] for slot in names}
    asked = None if free else ending
    prompt = prompt.format(ending=ending, **slots)
    return Task(
        "story",
        prompt,
        _tell(rng, slots, ending),
        f"{asked or 'any end'} {given}",
        data={"given": given, "ending": asked},
    )


def _read(text: str, patterns: Sequence[Sequence[re.Pattern[str]]], slots: dict[str, str]) -> bool:
    """Match sentence by sentence, filling in slots; false where a sentence fits none or contradicts a slot."""
    sentences = re.findall(r"[^.]+\.", text)
    if len(sentences) != len(patterns) or "".join(sentences) != text:
        return False
    for sentence, choices in zip(sentences, patterns, strict=True):
        match = next((m for p in choices if (m := p.fullmatch(sentence.removeprefix(" ")))), None)
        if match is None or any(slots.setdefault(k, v) != v for k, v in match.groupdict().items()):
            return False
    return "  " not in text and not text.startswith(" ")


def _apart(slots: Mapping[str, str]) -> bool:
    pairs = (("a", "b"), ("n", "o"), ("p", "q"), ("t", "u"))
    return all(slots.get(x) is None or slots.get(x) != slots.get(y) for x, y in pairs)


def _check_story(task: Task, text: str) -> bool:
    """Five sentences of the grammar, the given slots kept, nothing contradicted, and the ending asked for, if any."""
    slots = dict(task.data["given"])
    asked = task.data["ending"]
    endings = list(_ENDINGS.values()) if asked is None else [_ENDINGS[asked]]
    return _read(text, [*_STORY, endings], slots) and _apart(slots)


def _long_story(rng: Random) -> Task:
    slots = _slots(rng)
    ending = rng.choice(sorted(ENDINGS))
    prompt, names = f"Tell a long story about {slots['n']} the {slots['a']}", "na"
    if rng.random() < 0.7:
        prompt, names = f"{prompt} and a friend named {slots['o']}", "nao"
    given = {slot: slots[slot] for slot in names}
    answer = _tell(rng, slots, ending) + "\n" + " ".join(SEQUEL).format(**slots)
    return Task("long_story", f"{prompt}.", answer, " ".join(given.values()), data={"given": given})


def _check_long_story(task: Task, text: str) -> bool:
    """A short story with any ending, then the sequel, with names, kinds, places and things kept over the edge."""
    first, edge, second = text.partition("\n")
    slots = dict(task.data["given"])
    return (
        bool(edge)
        and _read(first, [*_STORY, list(_ENDINGS.values())], slots)
        and _read(second, _SEQUEL, slots)
        and _apart(slots)
    )


FAMILIES = (
    Family("story", _story, _check_story, weight=2.0, teaches="many revisions"),
    Family("long_story", _long_story, _check_long_story, weight=1.2, teaches="an answer over two canvases"),
)
