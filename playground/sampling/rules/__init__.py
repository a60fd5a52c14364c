"""Rules, one a file, behind one interface: `step(canvas_ids, statistics, draws) -> Step`."""
