"""Whether a kernel is being compiled: compilations are counted, in whatever thread they run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from sparkrex.kernels import compiling


def test_it_is_compiling_until_the_last_one_has_ended() -> None:
    assert not compiling.is_compiling()
    compiling.note_start()
    compiling.note_start()
    compiling.note_end()
    assert compiling.is_compiling()
    compiling.note_end()
    assert not compiling.is_compiling()


def test_no_start_and_no_end_is_lost_between_threads() -> None:
    def note(_: int) -> None:
        for _ in range(200):
            compiling.note_start()
            compiling.note_end()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(note, range(8)))
    assert not compiling.is_compiling()
