"""Patterned text: acrostics and rhymed verse."""

import re
from random import Random

from playground.tiny.tasks.task import Family, Task
from playground.tiny.tasks.words import ANIMALS, MOODS, NAMES, WORDS, listed

_OPENERS = {
    "A": "All Ancient",
    "B": "Big Blue",
    "C": "Calm Cold",
    "D": "Dark Deep",
    "E": "Early Every",
    "F": "Fine Fresh",
    "G": "Gentle Grey",
    "H": "Happy High",
    "I": "Icy Inner",
    "J": "Jolly Just",
    "K": "Keen Kind",
    "L": "Little Long",
    "M": "Many Mild",
    "N": "New Noble",
    "O": "Old Open",
    "P": "Pale Proud",
    "Q": "Quick Quiet",
    "R": "Red Round",
    "S": "Silver Slow",
    "T": "Tall Tiny",
    "U": "Under Upper",
    "V": "Vast Violet",
    "W": "Warm Wild",
    "X": "Xenial Xeric",
    "Y": "Yellow Young",
    "Z": "Zany Zesty",
}
OPENERS = {letter: words.split() for letter, words in _OPENERS.items()}
SUBJECTS = listed("bells birds clouds hills lamps leaves rivers songs stars winds")
VERBS = listed("call dance dream fly rest shine sing sleep turn wait")
ACROSTIC_WORDS = sorted({w for w in (*WORDS, *(n.lower() for n in NAMES)) if 3 <= len(w) <= 6})


def _acrostic(rng: Random) -> Task:
    word = rng.choice(ACROSTIC_WORDS).upper()
    lines = (f"{rng.choice(OPENERS[c])} {rng.choice(SUBJECTS)} {rng.choice(VERBS)}" for c in word)
    asks = ("Write an acrostic for {}.", "Acrostic: {}", "Write an acrostic poem: {}", "Write an acrostic poem for {}.")
    prompt = rng.choice(asks).format(word)
    return Task("acrostic", prompt, "\n".join(lines), word, data={"word": word})


def _check_acrostic(task: Task, text: str) -> bool:
    """Each line opens with its letter of the word, and has an opener, a subject and a verb."""
    lines = text.split("\n")
    word: str = task.data["word"]
    if len(lines) != len(word):
        return False
    for letter, line in zip(word, lines, strict=True):
        parts = line.split(" ")
        if len(parts) != 3 or parts[0] not in OPENERS[letter] or parts[1] not in SUBJECTS or parts[2] not in VERBS:
            return False
    return True


_RHYMES = (
    "bee key sea tree, kite light night, rain train lane, moon spoon noon, bell shell well, bow crow snow, "
    "bone stone throne, king ring spring, hand land sand, fall hall wall, boat coat goat, bed shed thread"
)
RHYMES = [group.split() for group in _RHYMES.split(", ")]
VERSE_LINES = (
    "The {a} went over the {0},",
    "to look for a {m} {1};",
    "the {b} came under the {2},",
    "and sang of a {n} {3}.",
)


def _verse(rng: Random) -> Task:
    a, b = rng.sample(ANIMALS, 2)
    first, second = rng.sample(RHYMES, 2)
    rhymes = [*rng.sample(first, 2), *rng.sample(second, 2)]
    m, n = rng.choice(MOODS), rng.choice(MOODS)
    answer = "\n".join(VERSE_LINES).format(*rhymes, a=a, b=b, m=m, n=n)
    prompt = rng.choice((f"Write a verse about the {a} and the {b}.", f"A rhyme about the {a} and the {b}, please."))
    return Task("verse", prompt, answer, f"{a} and {b}", data={"a": a, "b": b})


def _verse_pattern() -> re.Pattern[str]:
    ends = "|".join(word for group in RHYMES for word in group)
    moods = "|".join(MOODS)
    slots = {"a": "(?P<a>[a-z]+)", "b": "(?P<b>[a-z]+)", "m": f"(?:{moods})", "n": f"(?:{moods})"}
    return re.compile(
        re.escape("\n".join(VERSE_LINES))
        .replace(r"\{", "{")
        .replace(r"\}", "}")
        .format(*(f"(?P<r{i}>{ends})" for i in range(4)), **slots)
    )


_VERSE = _verse_pattern()


def _check_verse(task: Task, text: str) -> bool:
    """The pattern's words, the two animals in their places, lines 1 and 2 and lines 3 and 4 rhyming, each two words."""
    match = _VERSE.fullmatch(text)
    if match is None or match["a"] != task.data["a"] or match["b"] != task.data["b"]:
        return False
    for one, other in (("r0", "r1"), ("r2", "r3")):
        if match[one] == match[other] or not any(match[one] in g and match[other] in g for g in RHYMES):
            return False
    return True


FAMILIES = (
    Family("acrostic", _acrostic, _check_acrostic, weight=1.2, teaches="a pattern down the side"),
    Family("verse", _verse, _check_verse, weight=1.0, teaches="words that must agree far apart"),
)
