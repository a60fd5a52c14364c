"""The two ways in which the playground says no."""


class PlaygroundError(Exception):
    """Something that cannot be done, in a sentence for the person who asked.

    `code` is one of those of `events.Error`; `field` is a dotted path into what was sent, where one field is at fault.
    """

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field


class ModelError(PlaygroundError):
    """A model that cannot be loaded or used; `message` says what to do about it."""

    def __init__(self, message: str, code: str = "model", field: str | None = None) -> None:
        super().__init__(code, message, field)
