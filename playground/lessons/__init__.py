"""Lessons: Markdown files with a recipe each, read, checked and held against the model."""
