"""One HTML file that plays a recorded run: the page's own modules and styles, and the trace, in one document.

No text of a run stands in the document as text. Trace and modules are gzip in base64. A few lines of script unpack the
modules into an import map of data: URLs and start `static/replay.js`, which reads the trace; what is in it reaches the
page through text nodes like any other run. The policy lets run what carries the document's nonce, and nothing else; no
address can be asked for.
"""

import base64
import gzip
import json
import posixpath
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from playground.events import Event
from playground.trace.tables import texts_of

ENTRY = "replay.js"
STYLES = tuple(f"styles/{name}.css" for name in ("theme", "lane", "panels", "replay"))

POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; style-src-attr 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'"
)
"""Style attributes are widths of bars, pictures are thumbnails in the trace; neither can ask for anything."""

DOCUMENT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>A recorded run of the denoising playground</title>
<style nonce="{nonce}">
{styles}
</style>
</head>
<body>
<main id="denoise" class="replay"></main>
<noscript>This file plays a recorded run; it needs JavaScript, and nothing from the network.</noscript>
<script type="text/plain" id="trace">{trace}</script>
<script type="text/plain" id="modules">{modules}</script>
<script nonce="{nonce}">
{start}
</script>
</body>
</html>
"""

START = """\
async function unpack(id) {
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
(async (own) => {
  const map = document.createElement("script");
  Object.assign(map, { type: "importmap", nonce: own.nonce, textContent: await unpack("modules") });
  document.head.append(map);
  (await import("ENTRY")).play(await unpack("trace"));
})(document.currentScript).catch((error) => {
  document.body.prepend(`This recording cannot be played: ${error.message}`);
});"""
"""An import map must be there before the first module is asked for."""

_IMPORT = re.compile(r'^((?:import|export)\b[^;"]*?)"(\.[\w./-]+)"', re.M)


PACKAGE = Path(__file__).parent.parent


def static_folder(package: Path = PACKAGE) -> Path:
    """Where the page's modules and styles are: in the installed package, or beside it in a checkout."""
    folders = (package / "static", package.parent / "static")
    return next((folder for folder in folders if folder.is_dir()), folders[0])


def page(events: Sequence[Event]) -> bytes:
    """The document, in UTF-8, for the events of a whole run."""
    folder = static_folder()
    styles = "\n".join((folder / name).read_text(encoding="utf-8") for name in STYLES)
    if "</" in styles:
        raise ValueError("the styles cannot stand in a style element")
    modules = {_bare(name): _data_url(source) for name, source in _modules(folder)}
    nonce = secrets.token_urlsafe(16)
    return DOCUMENT.format(
        nonce=nonce,
        policy=POLICY.format(nonce=nonce),
        styles=styles,
        modules=_packed(json.dumps({"imports": modules}).encode()),
        trace=_packed(_trace(events)),
        start=START.replace("ENTRY", _bare(ENTRY)),
    ).encode()


def _modules(folder: Path) -> Iterator[tuple[str, str]]:
    """Names and sources of the entry and of all that it imports, relative imports rewritten to bare names."""
    wanted, seen = [ENTRY], {ENTRY}
    while wanted:
        name = wanted.pop()
        source = (folder / name).read_text(encoding="utf-8")
        here = posixpath.dirname(name)
        paths = {said: posixpath.normpath(posixpath.join(here, said)) for _, said in _IMPORT.findall(source)}
        wanted += sorted({*paths.values()} - seen)
        seen.update(paths.values())
        yield name, _rewritten(source, paths)


def _rewritten(source: str, paths: Mapping[str, str]) -> str:
    """The source with bare names for the paths that it imports."""
    return _IMPORT.sub(lambda found: f'{found[1]}"{_bare(paths[found[2]])}"', source)


def _bare(name: str) -> str:
    return f"playground/{name}"


def _data_url(source: str) -> str:
    return "data:text/javascript;charset=utf-8," + quote(source)


def _packed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def _trace(events: Sequence[Event]) -> bytes:
    """The events as JSONL, each text once: in the first event instead of in all that need it."""
    texts = {str(token): text for token, text in texts_of(events).items()}
    lines = []
    for number, event in enumerate(events):
        fields = event.model_dump(mode="json", exclude_none=True)
        if "texts" in fields:
            fields["texts"] = texts if number == 0 else {}
        fields.pop("top_texts", None)
        if "entropy" in fields:
            fields["entropy"] = _short(fields["entropy"])
        lines.append(json.dumps(fields, separators=(",", ":")))
    return "\n".join(lines).encode()


def _short(entropy: Any) -> Any:
    """Float32 values, spelled as such: 0.1 for 0.10000000149011612. The page rounds them back."""
    if isinstance(entropy, list):
        return [_short(each) for each in entropy]
    return float(str(np.float32(entropy))) if isinstance(entropy, float) else entropy
