"""A run in a terminal: events in, lines out. Knows no torch and no engine, so a recorded run plays the same way."""
