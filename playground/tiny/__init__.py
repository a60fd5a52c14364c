"""The embedded model: tasks with exact checkers, the tokenizer, training and evaluation."""
