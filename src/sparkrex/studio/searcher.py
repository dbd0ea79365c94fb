"""Asks the process that searches, one request at a time; of each page only the last request counts."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from typing import TYPE_CHECKING

from sparkrex.studio.frames import HEAD, framed
from sparkrex.studio.worker import CANCELLED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sparkrex.studio.asked import Asked
    from sparkrex.studio.limits import Limits


class Turn:
    """One request: whether somebody still waits for its answer."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.given_up = asyncio.Event()


def failure(message: str, hint: str | None = None) -> bytes:
    """An answer that is an error of no place in the query."""
    error: dict[str, object] = {
        "code": "", "message": message, "start": None, "end": None, "notes": [], "hint": hint,
    }
    return json.dumps({"errors": [error]}).encode()


class Searcher:
    """The process, started when it is first asked, and again after it had to be ended."""

    def __init__(self, tables: Mapping[str, str], limits: Limits) -> None:
        self._tables = json.dumps(dict(tables)).encode()
        self._limits = limits
        self._process: Process | None = None
        self._free = asyncio.Lock()
        self._turns: list[Turn] = []

    def begin(self, page: str) -> Turn:
        """The turn of a request, which ends all earlier ones of its page."""
        for turn in self._turns:
            if turn.page == page:
                turn.given_up.set()
        turn = Turn(page)
        self._turns.append(turn)
        return turn

    async def answer(self, asked: Asked, turn: Turn) -> bytes:
        """The answer, as JSON."""
        try:
            async with self._free:
                return CANCELLED if turn.given_up.is_set() else await self._ask(asked, turn)
        finally:
            self._turns.remove(turn)

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()

    async def _ask(self, asked: Asked, turn: Turn) -> bytes:
        process = await self._started()
        assert process.stdin is not None
        process.stdin.write(framed(asked.to_json()))
        reading = asyncio.ensure_future(_read(process))
        giving_up = asyncio.ensure_future(turn.given_up.wait())
        try:
            await asyncio.wait({reading, giving_up}, timeout=self._limits.seconds, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                is_wanted = not turn.given_up.is_set()
                await self._interrupt(process, reading)
                seconds = f"{self._limits.seconds:g} seconds"
                return failure(
                    f"the answer took more than {seconds}", "search fewer rows, or start rex studio with --seconds N"
                ) if is_wanted else CANCELLED
            return reading.result()
        except (asyncio.IncompleteReadError, ConnectionError):
            await self.close()
            return failure("the process that searches has ended", "it may have run out of memory: search fewer rows")
        finally:
            giving_up.cancel()

    async def _started(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            # -P: no module is taken from the folder that the command was started in.
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", "sparkrex.studio.worker", stdin=PIPE, stdout=PIPE
            )
            assert self._process.stdin is not None
            self._process.stdin.write(framed(self._tables))
        return self._process

    async def _interrupt(self, process: Process, reading: asyncio.Future[bytes]) -> None:
        """Make the process stop and answer at once; where it does not, end it."""
        if process.returncode is None and sys.platform != "win32":
            process.send_signal(signal.SIGINT)
            await asyncio.wait({reading}, timeout=self._limits.patience)
        if not reading.done():
            reading.cancel()
            await self.close()
        elif not reading.cancelled() and reading.exception() is not None:
            await self.close()


async def _read(process: Process) -> bytes:
    assert process.stdout is not None
    (length,) = HEAD.unpack(await process.stdout.readexactly(HEAD.size))
    return await process.stdout.readexactly(length)
