from typing import Any

import pytest

from playground.tiny.tasks.interpreter import NotAllowed, run_function


@pytest.mark.parametrize(
    ("source", "arguments", "result"),
    [
        ("def f(a, b):\n    return a + b", [2, 3], 5),
        ("def f(s):\n    return s[::-1]", ["abc"], "cba"),
        ("def f(x):\n    return 'even' if x % 2 == 0 else 'odd'", [3], "odd"),
        ("def f(items):\n    total = 0\n    for x in items:\n        total += x > 2\n    return total", [[1, 2, 3]], 1),
        ("def f(x):\n    if x < 0 or x == 7:\n        return -x\n    return x", [7], -7),
        ("def f(x):\n    return 1 < x <= 3 and x in [2, 3]", [2], True),
        ("def f(s):\n    return s.upper().count('A')", ["aba"], 2),
        ("def f(n):\n    out = []\n    for i in range(n):\n        out.append(i * i)\n    return out", [3], [0, 1, 4]),
        ("def f(x):\n    x", [1], None),
    ],
)
def test_runs_small_functions(source: str, arguments: list[Any], result: Any) -> None:
    if source.endswith("    x"):
        with pytest.raises(NotAllowed):
            run_function(source, "f", arguments)
    else:
        assert run_function(source, "f", arguments) == result


@pytest.mark.parametrize(
    "source",
    [
        "import os\ndef f(x):\n    return x",
        "def f(x):\n    import os\n    return x",
        "def f(x):\n    return open('/etc/passwd')",
        "def f(x):\n    return x.__class__",
        "def f(x):\n    return ''.__class__.__mro__",
        "def f(x):\n    return '{0.__class__}'.format(x)",
        "def f(x):\n    return '%s' % x",
        "def f(x):\n    return x ** 99999999",
        "def f(x):\n    while True:\n        pass",
        "def f(x):\n    return 'a' * 10 ** 9",
        "def f(x):\n    return 'a' * 1000000000",
        "def f(x):\n    return list(range(1000000000))",
        "def f(x):\n    for i in range(9999):\n        for j in range(9999):\n            x += 1\n    return x",
        "def f(x):\n    for i in range(9000):\n        x *= 1000\n    return x",
        "def f(x, y=1):\n    return x",
        "def f(*x):\n    return x",
        "@f\ndef f(x):\n    return x",
        "def f(x):\n    return (lambda: x)()",
        "def f(x):\n    return [y for y in [x]]",
        "def f(x):\n    return f(x)",
        "def g(x):\n    return x",
        "f = 1",
        "",
        "#" * 5000,
    ],
)
def test_refuses_what_is_not_on_the_list(source: str) -> None:
    with pytest.raises(NotAllowed):
        run_function(source, "f", [3])


def test_wrong_number_of_arguments_and_syntax() -> None:
    with pytest.raises(TypeError):
        run_function("def f(x):\n    return x", "f", [1, 2])
    with pytest.raises(SyntaxError):
        run_function("def f(x:", "f", [1])
