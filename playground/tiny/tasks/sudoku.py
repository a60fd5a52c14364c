"""Sudoku, 4×4 and 6×6: puzzles with one solution, emptiest at the top, where writing from left to right starts.

Two puzzles that differ only in which digit is called what are one instance.
"""

from collections.abc import Sequence
from random import Random

from playground.tiny.tasks.task import Family, Task

Grid = list[int]  # row by row; 0 is an empty cell

BOXES = {4: (2, 2), 6: (2, 3)}  # size → rows and columns of a box


def _units(size: int) -> list[tuple[int, int, int]]:
    rows, columns = BOXES[size]
    return [(r, c, r // rows * (size // columns) + c // columns) for r in range(size) for c in range(size)]


_UNITS = {size: _units(size) for size in BOXES}


def solutions(grid: Sequence[int], size: int, limit: int = 2) -> list[Grid]:
    """Up to `limit` solutions, by always filling the cell with the fewest choices."""
    units = _UNITS[size]
    full = (1 << size) - 1
    rows, columns, boxes = [full] * size, [full] * size, [full] * size
    empty: list[int] = []
    for cell, value in enumerate(grid):
        if not value:
            empty.append(cell)
            continue
        r, c, b = units[cell]
        bit = 1 << (value - 1)
        if not rows[r] & columns[c] & boxes[b] & bit:
            return []
        rows[r] ^= bit
        columns[c] ^= bit
        boxes[b] ^= bit
    found: list[Grid] = []
    work = list(grid)

    def fill(left: list[int]) -> None:
        if not left:
            found.append(work.copy())
            return
        best, choices, fewest = -1, 0, size + 1
        for cell in left:
            r, c, b = units[cell]
            mask = rows[r] & columns[c] & boxes[b]
            count = mask.bit_count()
            if count < fewest:
                best, choices, fewest = cell, mask, count
                if count <= 1:
                    break
        if not choices:
            return
        rest = [cell for cell in left if cell != best]
        r, c, b = units[best]
        while choices and len(found) < limit:
            bit = choices & -choices
            choices ^= bit
            rows[r] ^= bit
            columns[c] ^= bit
            boxes[b] ^= bit
            work[best] = bit.bit_length()
            fill(rest)
            rows[r] ^= bit
            columns[c] ^= bit
            boxes[b] ^= bit
        work[best] = 0

    fill(empty)
    return found


def solved_grid(rng: Random, size: int) -> Grid:
    """A random full grid: a random first row and a few random cells, completed."""
    while True:
        grid = rng.sample(range(1, size + 1), size) + [0] * (size * (size - 1))
        for cell in rng.sample(range(size, size * size), size // 2):
            grid[cell] = rng.randint(1, size)
        if complete := solutions(grid, size, limit=1):
            return complete[0]


def dig(rng: Random, solution: Grid, size: int, blanks: int) -> Grid:
    """Empty up to `blanks` cells, mostly from the top, as long as the solution stays the only one."""
    order = sorted(range(size * size), key=lambda cell: cell // size + rng.random() * size * 0.7)
    puzzle = solution.copy()
    for cell in order:
        if not blanks:
            break
        value, puzzle[cell] = puzzle[cell], 0
        if len(solutions(puzzle, size)) == 1:
            blanks -= 1
        else:
            puzzle[cell] = value
    return puzzle


def written(grid: Sequence[int], size: int) -> str:
    """The grid as lines of digits, a dot for an empty cell."""
    return "\n".join("".join(str(v) if v else "." for v in grid[i : i + size]) for i in range(0, size * size, size))


def renamed(grid: Sequence[int]) -> str:
    """The grid with its digits renamed by first appearance, so that it names the puzzle whatever its digits."""
    names: dict[int, int] = {0: 0}
    return "".join(str(names.setdefault(value, len(names))) for value in grid)


def _sudoku(rng: Random, size: int, fewest: int, most: int) -> Task:
    solution = solved_grid(rng, size)
    puzzle = dig(rng, solution, size, rng.randint(fewest, most))
    shown = written(puzzle, size)
    name = f"sudoku_{size}x{size}"
    return Task(name, f"Sudoku:\n{shown}", written(solution, size), renamed(puzzle), data={"size": size})


def _sudoku_4(rng: Random) -> Task:
    return _sudoku(rng, 4, 4, 10)


def _sudoku_6(rng: Random) -> Task:
    return _sudoku(rng, 6, 5, 14)


FAMILIES = (
    Family("sudoku_4x4", _sudoku_4, weight=1.2, teaches="constraints: the order matters"),
    Family("sudoku_6x6", _sudoku_6, weight=2.2, teaches="constraints: the order matters"),
)
