"""Opens a port of this machine, and serves until Ctrl-C."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import uvicorn

from sparkrex.studio.access import Keys
from sparkrex.studio.app import make_app

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sparkrex.studio.limits import Limits


def serve(tables: Mapping[str, str], port: int, limits: Limits, announce: Callable[[str], None]) -> None:
    """Serve tables, which are paths by name; port 0 means any that is free. `announce` is told the address."""
    with socket.create_server(("127.0.0.1", port)) as listening:
        keys = Keys(listening.getsockname()[1])
        config = uvicorn.Config(
            make_app(tables, keys, limits), log_level="error", access_log=False, server_header=False,
            date_header=False, ws="none", proxy_headers=False, h11_max_incomplete_event_size=1 << 16,
            timeout_graceful_shutdown=2, http="h11",
        )
        announce(keys.address)
        asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))
