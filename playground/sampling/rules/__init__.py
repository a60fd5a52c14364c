"""Acceptance rules, one a file, behind one interface: `step(canvas_ids, statistics, t, random_ids) -> Step`."""
