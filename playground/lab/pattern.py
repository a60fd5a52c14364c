"""A pattern that says which answers are right: refused where compiling it would take for ever."""

import re

import regex

MOST_CHARACTERS = 1000
MOST_COST = 20_000
"""Of one pattern; its compiler takes some hundredths of a second for it."""

COUNT = re.compile(r"\{(\d*)(?:,(\d*))?\}")
FUZZY = re.compile(r"(?<!\\)\{[^{}]*<[^{}]*\}")


def check(pattern: str) -> None:
    """Refuse what is no regular expression, and what cannot be compiled in a blink.

    Raises:
        ValueError: with the reason.
    """
    if len(pattern) > MOST_CHARACTERS:
        raise ValueError(f"pattern has {len(pattern)} characters; at most {MOST_CHARACTERS}")
    if cost(pattern) > MOST_COST:
        raise ValueError("pattern repeats too much inside of what is repeated")
    if FUZZY.search(pattern):
        raise ValueError("pattern asks for an approximate match, which is not offered")
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ValueError(f"pattern is no regular expression: {error}") from None


def cost(pattern: str) -> int:
    """How many pieces a pattern has once its repetitions are written out, a repetition without a count twice.

    The compiler does so, more or less: `((a{100}){100}){100}` takes it seconds, one level more takes hours.
    """
    groups, last, at = [0], 0, 0
    while at < len(pattern):
        sign, length, piece = pattern[at], 1, 1
        counted = COUNT.match(pattern, at) if sign == "{" else None
        if sign == "\\":
            length = 2
        elif sign == "[":
            end = pattern.find("]", at + (3 if pattern.startswith("^", at + 1) else 2))
            length = (end if end > 0 else len(pattern)) - at + 1
        elif sign == "(":
            groups.append(0)
            piece = 0
        elif sign == ")" and len(groups) > 1:
            piece = groups.pop() + 1
        elif sign in "*+?" or counted:
            times = 2
            if counted:
                length = len(counted.group())
                times = max(2, *(int(digits[:6]) for digits in counted.groups() if digits), 0)
            piece = last * (times - 1)
            last *= times
            groups[-1] += piece
            at += length
            continue
        groups[-1] += piece
        last = piece
        at += length
    return sum(groups)
