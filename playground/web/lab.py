"""Sweeps over HTTP: what a spec would cost, starting and stopping, the table, the figures, the runs, and files."""

import asyncio
import json
import tempfile
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query, Request
from fastapi.responses import Response
from pydantic import ValidationError

from playground.errors import PlaygroundError
from playground.lab import export, preset, report
from playground.lab.cells import Setting, sampler_of
from playground.lab.results import Row
from playground.lab.spec import SweepSpec
from playground.lab.summary import lines
from playground.tiny.tasks import FAMILIES
from playground.web import mistakes
from playground.web.archive import hashed
from playground.web.history import Owner
from playground.web.message import OWNER_CHARACTERS
from playground.web.site import Site
from playground.web.sweep import Sweep

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

SweepId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Anybody = Annotated[
    str | None,
    Header(alias="X-Playground-Owner", min_length=OWNER_CHARACTERS.start, max_length=OWNER_CHARACTERS.stop - 1),
]
Beside = Annotated[
    str | None, Query(pattern=r"^[A-Za-z0-9_-]{1,64}$", description="Another sweep, to be compared family by family.")
]
Chosen = Annotated[str, Query(max_length=4000, description="A setting of the sweep, as JSON.")]

MOST_SPEC_BYTES = 1 << 20
MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "html": "text/html; charset=utf-8",
    "sqlite": "application/vnd.sqlite3",
}


def router(site: Site) -> APIRouter:
    """The routes of a site."""
    routes = APIRouter()

    @routes.get("/api/sweeps")
    async def sweeps(owner: Anybody = None) -> dict[str, Any]:
        """The sweeps that come with the package, and the owner's own; and the kinds of tasks that there are."""
        mine = None if owner is None else hashed(owner)
        return {"sweeps": [sweep.summary(mine) for sweep in site.sweeps.all(mine)], "families": list(FAMILIES)}

    @routes.post("/api/sweeps/check")
    async def check(request: Request) -> dict[str, Any]:
        """How many runs a spec makes, and about how many seconds they take; a few of them are tried for that."""
        _count_start(site, request)
        spec = await _spec(request)
        async with site.loading.using() as model:
            return await site.sweeps.check(spec, model)

    @routes.post("/api/sweeps", status_code=201)
    async def start(request: Request, owner: Owner) -> dict[str, Any]:
        """Begin a sweep."""
        _count_start(site, request)
        spec = await _spec(request)
        async with site.loading.using() as model:
            sweep = await site.sweeps.start(spec, model, hashed(owner))
        return sweep.summary(hashed(owner))

    @routes.get("/api/sweeps/{sweep_id}")
    async def sweep(sweep_id: SweepId, owner: Anybody = None) -> dict[str, Any]:
        """How a sweep stands, its spec, and a line for each setting so far."""
        found = site.sweeps.get(sweep_id)
        settings = await asyncio.to_thread(lambda: report.settings(found.head.spec, found.results.rows()))
        spec = found.head.spec.model_dump(mode="json")
        return found.summary(None if owner is None else hashed(owner)) | {"spec": spec, "settings": settings}

    @routes.get("/api/sweeps/{sweep_id}/figures")
    async def figures(sweep_id: SweepId, beside: Beside = None) -> Response:
        """Plotly's JSON of each figure that the runs so far allow, by title; one of both if another stands beside."""
        found = site.sweeps.get(sweep_id)
        other = None if beside is None else site.sweeps.get(beside)
        return Response(await asyncio.to_thread(_figures, found, other), media_type="application/json")

    @routes.get("/api/sweeps/{sweep_id}/runs")
    async def runs(sweep_id: SweepId, setting: Chosen) -> dict[str, Any]:
        """The runs of a setting: question, seed, answer, whether it is right, what it cost, and the recipe."""
        rows = await _rows_of(site.sweeps.get(sweep_id), setting)
        return {"runs": [_described(row) for row in rows]}

    @routes.get("/api/sweeps/{sweep_id}/preset")
    async def settings(sweep_id: SweepId, setting: Chosen) -> dict[str, Any]:
        """A setting's sampler, to keep: as JSON, and as code for transformers where it has the same."""
        spec = site.sweeps.get(sweep_id).head.spec
        sampler = sampler_of(spec, _setting(setting))
        try:
            code, reason = preset.as_transformers(sampler), ""
        except ValueError as error:
            code, reason = None, str(error)
        return {"preset": preset.as_json(spec.name, sampler), "transformers": code, "reason": reason}

    @routes.post("/api/sweeps/{sweep_id}/{action}")
    async def steer(sweep_id: SweepId, action: Literal["pause", "resume", "cancel"], owner: Owner) -> dict[str, Any]:
        """Pause a sweep of one's own, go on with it, or end it."""
        found = site.sweeps.mine(sweep_id, hashed(owner))
        if action == "resume":
            async with site.loading.using() as model:
                site.sweeps.go(found, model)
        else:
            await site.sweeps.stop(found, "paused" if action == "pause" else "cancelled")
        return found.summary(hashed(owner))

    @routes.delete("/api/sweeps/{sweep_id}")
    async def delete(sweep_id: SweepId, owner: Owner) -> dict[str, Any]:
        """Forget a sweep of one's own."""
        await site.sweeps.delete(site.sweeps.mine(sweep_id, hashed(owner)))
        return {"sweep": sweep_id, "deleted": True}

    @routes.get("/api/sweeps/{sweep_id}/export.{kind}")
    async def export_sweep(sweep_id: SweepId, kind: Literal["csv", "parquet", "html", "sqlite"]) -> Response:
        """The runs as a table, the figures as a page, or the whole file."""
        found = site.sweeps.get(sweep_id)
        made = await site.sweeps.copy(found) if kind == "sqlite" else await asyncio.to_thread(_exported, found, kind)
        headers = {"Content-Disposition": f'attachment; filename="sweep-{sweep_id}.{kind}"'}
        return Response(made, media_type=MEDIA_TYPES[kind], headers=headers)

    return routes


def _count_start(site: Site, request: Request) -> None:
    site.limits.start(request.client.host if request.client else "", 0)


async def _spec(request: Request) -> SweepSpec:
    """The spec in the body. Raises `PlaygroundError` naming the field."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_SPEC_BYTES:
            raise PlaygroundError("too_long", f"A spec has at most {MOST_SPEC_BYTES} bytes.", "spec")
    return await asyncio.to_thread(_read, body)  # patterns are compiled


def _read(body: bytes) -> SweepSpec:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise PlaygroundError("bad_request", f"The spec is no JSON: {error}.", "spec") from None
    try:
        return SweepSpec.model_validate(data)
    except ValidationError as error:
        field, sentence = mistakes.explain(error, data, SweepSpec.model_json_schema())
        raise PlaygroundError("bad_request", sentence, field or "spec") from None


def _setting(text: str) -> Setting:
    try:
        setting = json.loads(text)
    except (ValueError, RecursionError):
        setting = None
    if not isinstance(setting, dict):
        raise PlaygroundError("bad_request", "setting must be a JSON object.", "setting")
    return setting


async def _rows_of(sweep: Sweep, setting: str) -> list[Row]:
    wanted = json.dumps(_setting(setting), sort_keys=True)
    rows = await asyncio.to_thread(sweep.results.rows)
    return [row for row in rows if row.setting == wanted]


def _described(row: Row) -> dict[str, Any]:
    names = ("question", "family", "prompt", "seed", "right", "text", "stop_reason", "tokens", "passes")
    more = ("effective_denoising_steps", "tokens_per_forward", "revised", "loops")
    return {name: getattr(row, name) for name in names + more} | {"recipe": json.loads(row.recipe)}


def _made(sweep: Sweep) -> dict[str, Any]:
    from playground.lab import figures

    rows = sweep.results.rows()
    return figures.all_of(rows, report.released(sweep.head.spec, lines(rows)))


def _figures(sweep: Sweep, other: Sweep | None) -> str:
    made = _made(sweep)
    if other is not None:
        made |= _beside(sweep, other)
    return json.dumps({title: json.loads(figure.to_json()) for title, figure in made.items()})


def _beside(first: Sweep, second: Sweep) -> dict[str, "Figure"]:
    """Both on one map, and by family, there each with its released setting alone if it has one."""
    from playground.lab import figures

    both, chosen, names = [], [], []
    for sweep in (first, second):
        rows = sweep.results.rows()
        both.append(lines(rows))
        usual = report.released(sweep.head.spec, both[-1])
        chosen.append([row for row in rows if usual is None or json.loads(row.setting) == usual])
        names.append(f"{sweep.head.spec.name}, {'all' if usual is None else 'released'} settings")
    maps = (first.head.spec.name, second.head.spec.name)
    beside = f"Beside {second.head.spec.name}"
    return {
        beside: figures.overlaid(both[0], both[1], maps),
        f"{beside}, by kind of task": figures.compared(chosen[0], chosen[1], (names[0], names[1])),
    }


def _exported(sweep: Sweep, kind: str) -> bytes:
    from playground.lab import figures

    with tempfile.TemporaryDirectory() as folder:
        file = FilePath(folder) / f"sweep.{kind}"
        if kind == "html":
            figures.write(_made(sweep), sweep.head.spec.name, file)
        else:
            export.write(sweep.results.rows(), file)
        return file.read_bytes()
