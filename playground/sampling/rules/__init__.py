"""Acceptance rules, one a file, behind one interface: `step(canvas, statistics, t, draws) -> Step`."""
