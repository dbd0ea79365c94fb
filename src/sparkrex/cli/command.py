"""What a command is: its name, its arguments, and what it does with them. `main.py` lists all of them.

A module that defines a command loads nothing heavy before the command runs, because `rex --help` and completion load
all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

EXIT_CODES = (
    "Exit codes: 0 ok, 1 the query is wrong, 2 the command is, 3 execution failed, 70 a fault of SparkRex, "
    "130 interrupted, 143 terminated."
)


@dataclass(frozen=True, slots=True)
class Command:
    """One command, such as `rex run`, or a group of them, such as `rex workload`.

    A group has `actions`, and nothing else to run; a command alone has `run`.
    """

    name: str
    help: str
    description: str
    add_arguments: Callable[[argparse.ArgumentParser], None] = lambda _: None
    run: Callable[[argparse.Namespace], None] | None = None
    actions: tuple[Command, ...] = ()

    def __post_init__(self) -> None:
        if (self.run is None) == (not self.actions):
            raise ValueError(f"{self.name} needs something to run, or actions, and not both")


def add_commands(parser: argparse.ArgumentParser, commands: Iterable[Command], metavar: str) -> None:
    """Give a parser these commands. What is parsed has `run`, and `called`: the command as it was typed."""
    group = parser.add_subparsers(required=True, metavar=metavar)
    for command in commands:
        epilog = EXIT_CODES if command.run is not None else None
        own = group.add_parser(command.name, help=command.help, description=command.description, epilog=epilog)
        command.add_arguments(own)
        if command.run is not None:
            own.set_defaults(run=command.run, called=own.prog)
        else:
            add_commands(own, command.actions, "ACTION")
