"""An engine without torch that has several models, and keeps account of which are in memory."""

import gc
import threading
import weakref
from collections.abc import Callable

from playground.errors import ModelError
from playground.settings import Settings
from playground.web.site import Engine
from tests.web.fake import Fake, FakeModel

CHOICE = {"model": "small", "models": ("large", "third")}
"""Settings with a choice."""


class Shelf(Fake):
    """Models by name. Keeps weak references to what it loaded, so that a test can see what is still in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.missing: set[str] = set()
        self.broken: set[str] = set()
        self.made: list[weakref.ref[FakeModel]] = []
        self.most = 0
        self.finding = threading.Event()
        self.finding.set()

    @property
    def engine(self) -> Engine:
        return Engine(self.load, self.prepare, self.events, self.find, self.free)  # type: ignore[arg-type]

    @property
    def there(self) -> list[str]:
        return [model.name for made in self.made if (model := made()) is not None]

    def find(self, model: str, tell: Callable[[str], None]) -> None:
        tell(f"Fetching {model!r} from the hub: 1.5 GB so far.")
        assert self.finding.wait(60)
        if model in self.missing:
            raise ModelError(f"The model {model!r} could not be loaded: it is nowhere.")

    def free(self) -> None:
        gc.collect()

    def load(self, settings: Settings, tell: Callable[[str], None]) -> FakeModel:
        tell(f"Loading the model {settings.model!r}: its weights take 1 GB.")
        assert self.loading.wait(60)
        model = FakeModel(name=settings.model, revision=settings.model * 2)
        self.made.append(weakref.ref(model))
        self.most = max(self.most, len(self.there))
        if settings.model in self.broken:
            raise ModelError(f"The model {settings.model!r} could not be loaded: it does not fit.")
        return model
