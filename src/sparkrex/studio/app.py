"""The server: the files of the page by name, and one address for each thing that the page asks."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from sparkrex.studio.access import Access, Keys, policy
from sparkrex.studio.asked import KINDS, NotAskedError, asked_from
from sparkrex.studio.limits import MOST_BYTES, TooLargeError, read_body
from sparkrex.studio.searcher import Searcher

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from starlette.requests import Request

    from sparkrex.studio.limits import Limits

_FILES = {
    "app.js": ("sparkrex.studio", "page/app.js", "text/javascript"),
    "app.css": ("sparkrex.studio", "page/app.css", "text/css"),
    "licences.txt": ("sparkrex.studio", "page/licences.txt", "text/plain"),
    "drawer.js": ("sparkrex.pictures", "drawer.js", "text/javascript"),
}
"""All that is served, by name: no path of a request ever names a file."""


def make_app(tables: Mapping[str, str], keys: Keys, limits: Limits) -> Starlette:
    """The application for tables, which are paths by name."""
    searcher = Searcher(tables, limits)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await searcher.close()

    async def ask(request: Request) -> Response:
        kind = request.path_params["kind"]
        if kind not in KINDS:
            return PlainTextResponse("there is no such page", 404)
        try:
            asked = asked_from(kind, await read_body(request))
        except TooLargeError:
            return PlainTextResponse(f"a request has at most {MOST_BYTES:,} bytes", 413, {"Connection": "close"})
        except NotAskedError as error:
            return PlainTextResponse(str(error), 400)
        turn = searcher.begin(asked.page)
        answering = asyncio.ensure_future(searcher.answer(asked, turn))
        leaving = asyncio.ensure_future(request.receive())  # nothing comes after the body but that the page has gone
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            turn.given_up.set()
        leaving.cancel()
        return Response(await answering, media_type="application/json")

    routes = [
        Route("/", _page, methods=["GET"]),
        *(Route(f"/{name}", _file, methods=["GET"], name=name) for name in _FILES),
        Route("/api/{kind}", ask, methods=["POST"]),
    ]
    return Starlette(routes=routes, middleware=[Middleware(Access, keys=keys)], lifespan=lifespan)


async def _page(_: Request) -> Response:
    nonce = secrets.token_urlsafe(16)
    text = _read("sparkrex.studio", "page/index.html").replace("{nonce}", nonce)
    return Response(text, media_type="text/html", headers={"Content-Security-Policy": policy(nonce)})


async def _file(request: Request) -> Response:
    package, place, kind = _FILES[request.url.path.removeprefix("/")]
    return Response(_read(package, place), media_type=kind)


@cache
def _read(package: str, place: str) -> str:
    return files(package).joinpath(place).read_text(encoding="utf-8")
