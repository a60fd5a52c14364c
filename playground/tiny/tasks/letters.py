"""Words letter by letter: spelling, reversing, capitals."""

from random import Random

from playground.tiny.tasks.task import Family, Task
from playground.tiny.tasks.words import any_word


def _spell(rng: Random) -> Task:
    word = any_word(rng)
    prompt = rng.choice((f"Spell the word {word}.", f"How do you spell {word}?", f"Spell {word}."))
    return Task("spell", prompt, "-".join(word), word)


def _reverse(rng: Random) -> Task:
    word = any_word(rng)
    if rng.random() < 0.75:  # its letters shown: a token of the vocabulary hides them
        prompt = rng.choice((f"Reverse: {' '.join(word)}", f"Write these letters backwards: {' '.join(word)}"))
    else:
        prompt = rng.choice((f"Reverse the word {word}.", f"Write {word} backwards.", f"Spell {word} backwards."))
    return Task("reverse", prompt, " ".join(reversed(word)), word)


def _upper(rng: Random) -> Task:
    word = any_word(rng)
    prompt = rng.choice((f"Write {word} in capital letters.", f"Uppercase: {word}", f"Put {word} in capitals."))
    return Task("upper", prompt, word.upper(), word)


FAMILIES = (
    Family("spell", _spell, weight=0.9),
    Family("reverse", _reverse, weight=1.2),
    Family("upper", _upper, weight=1.0),
)
