"""`rex completion`: a script that completes commands, options and values in bash, zsh or fish.

All three scripts are written from the same parser that reads the command. `Words` is what they need of it: for each
command the words that may follow it, for each option whether it takes a value, and which.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import sparkrex as rex
from sparkrex.cli.command import Command
from sparkrex.cli.standard_output import write_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FILES, ANYTHING = "files", "anything"
"""What a value may be, where it is none of a list."""
_OF_FILES = ("PATH", "QUERY", "PATTERNS", "SOURCE", "DIR")
"""How the name of a value ends that is a path."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option; `values` are its choices, `FILES`, `ANYTHING`, or None if it takes none."""

    names: tuple[str, ...]
    values: tuple[str, ...] | str | None
    help: str


@dataclass(frozen=True, slots=True)
class Words:
    """What may follow a command: `path` is empty for `rex` itself. `values` are those that no option comes before."""

    path: tuple[str, ...]
    commands: tuple[tuple[str, str], ...]
    options: tuple[Option, ...]
    values: tuple[str, ...] | str | None


def complete(arguments: argparse.Namespace) -> None:
    """Print the script of a shell."""
    from sparkrex.cli.main import make_parser

    script = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}[arguments.shell]
    write_text(script(list(words_of(make_parser()))))


def words_of(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[Words]:
    """The words of a parser, and then of each of its commands."""
    commands: list[tuple[str, str, argparse.ArgumentParser]] = []
    options: list[Option] = []
    values: tuple[str, ...] | str | None = None
    for action in parser._actions:  # argparse has no other way to ask
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            commands += [(name, helps.get(name, ""), own) for name, own in action.choices.items()]
        elif action.option_strings:
            help_text = "" if action.help in (None, argparse.SUPPRESS) else str(action.help)
            options.append(Option(tuple(action.option_strings), _values(action), help_text))
        else:
            values = _values(action)
    yield Words(path, tuple((name, text) for name, text, _ in commands), tuple(options), values)
    for name, _, own in commands:
        yield from words_of(own, (*path, name))


def _values(action: argparse.Action) -> tuple[str, ...] | str | None:
    if action.nargs == 0:
        return None
    if action.choices is not None:
        return tuple(map(str, action.choices))
    if action.dest == "settings":
        return tuple(f"{field.name}=" for field in fields(rex.Settings) if field.name != "functions")
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    return FILES if metavar.endswith(_OF_FILES) else ANYTHING


def bash_script(words: Sequence[Words]) -> str:
    """A function for `complete -F`. Bash splits words at `=`, so the name of NAME=PATH is a word of its own."""
    cases = "".join(_bash_case(each) for each in words)
    commands = " ".join(f"'{' '.join(each.path)}'" for each in words if each.path)
    return _BASH.replace("@commands@", commands).replace("@cases@", cases)


def _bash_case(words: Words) -> str:
    previous = "".join(
        f"        {'|'.join(option.names)}) {_bash_values(option.values)}; return ;;\n"
        for option in words.options if option.values is not None
    )
    names = " ".join(name for option in words.options for name in option.names)
    if words.commands:
        plain = f"_rex_words '{' '.join(name for name, _ in words.commands)}'"
    else:
        plain = _bash_values(words.values)
    return (
        f"    '{' '.join(words.path)}')\n      case $before in\n{previous}      esac\n"
        f"      if [[ $word == -* ]]; then _rex_words '{names}'; else {plain}; fi ;;\n"
    )


def _bash_values(values: tuple[str, ...] | str | None) -> str:
    if isinstance(values, tuple):
        words = "_rex_names" if all(value.endswith("=") for value in values) else "_rex_words"
        return f"{words} '{' '.join(values)}'"
    return "_rex_files" if values == FILES else ":"


_BASH = """\
# bash completion of rex: source this, or put it into ~/.local/share/bash-completion/completions/rex
_rex_words() {
  COMPREPLY=($(compgen -W "$1" -- "$word"))
}
_rex_names() {
  if [[ ! $value ]]; then compopt -o nospace; _rex_words "$1"; fi
}
_rex_files() {
  compopt -o filenames
  local IFS=$'\\n'
  COMPREPLY=($(compgen -f -- "$word"))
}
_rex() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command='' value='' candidate known place
  COMPREPLY=()
  # NAME=PATH comes as three words: the option is the one before them.
  if [[ $word == '=' ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]} word='' value=1
  elif [[ $before == '=' && $COMP_CWORD -gt 2 ]]; then
    before=${COMP_WORDS[COMP_CWORD-3]} value=1
  fi
  for ((place = 1; place < COMP_CWORD; place++)); do
    candidate="${command:+$command }${COMP_WORDS[place]}"
    case $candidate in
      -*|*' -'*) ;;
      *) for known in @commands@; do if [[ $known == "$candidate" ]]; then command=$candidate; fi; done ;;
    esac
  done
  case $command in
@cases@  esac
}
complete -F _rex rex
"""


def zsh_script(words: Sequence[Words]) -> str:
    """Functions for `compdef`, one for each command, that call `_arguments` with its options."""
    return "#compdef rex\n" + "".join(_zsh_function(each) for each in words) + _ZSH_END


_ZSH_END = """\
if [ "$funcstack[1]" = "_rex" ]; then _rex "$@"; else compdef _rex rex; fi
"""


def _zsh_function(words: Words) -> str:
    specifications = []
    for option in words.options:
        value = "" if option.values is None else f": :{_zsh_values(option.values)}"
        text = _zsh_text(option.help)
        # May be repeated: which ones may, argparse says when the command runs.
        specifications += [f"'*{name}[{text}]{value}'" for name in option.names]
    name = "_".join(("_rex", *words.path))
    if not words.commands:
        if words.values is not None:
            specifications.append(f"'*: :{_zsh_values(words.values)}'")
        return f"{name}() {{\n  _arguments -s \\\n    {_zsh_lines(specifications)}\n}}\n"
    described = " ".join(f"'{command}:{_zsh_text(text)}'" for command, text in words.commands)
    branches = "".join(f"    {command}) {name}_{command} ;;\n" for command, _ in words.commands)
    specifications += ["'1: :->command'", "'*:: :->rest'"]
    return (
        f"{name}() {{\n  local state line\n  local -a commands=({described})\n"
        f"  _arguments -C \\\n    {_zsh_lines(specifications)}\n"
        f"  case $state in\n  command) _describe command commands ;;\n"
        f"  rest) case $line[1] in\n{branches}    esac ;;\n  esac\n}}\n"
    )


def _zsh_lines(specifications: Sequence[str]) -> str:
    return " \\\n    ".join(specifications)


def _zsh_values(values: tuple[str, ...] | str) -> str:
    if isinstance(values, tuple):
        if all(value.endswith("=") for value in values):
            return "{compadd -S \"\" -- " + " ".join(values) + "}"
        return f"({' '.join(values)})"
    return '{compset -P "*="; _files}' if values == FILES else " "


def _zsh_text(text: str) -> str:
    """A help text inside of single quotes, where brackets and colons mean something."""
    for letter in "\\[]:":
        text = text.replace(letter, f"\\{letter}")
    return text.replace("'", "'\\''").replace("%%", "%")


def fish_script(words: Sequence[Words]) -> str:
    """A line of `complete` for each word; conditions say behind which command."""
    commands = " ".join(f"'{' '.join(each.path)}'" for each in words if each.path)
    lines = ["# fish completion of rex", _FISH.replace("@commands@", commands)]
    for each in words:
        inside = f"__rex_at '{' '.join(each.path)}'"
        for name, text in each.commands:
            lines.append(f"complete -c rex -n \"{inside}\" -f -a {name} -d '{_fish_text(text)}'")
        if not each.commands:
            lines.append(f"complete -c rex -n \"{inside}\" {_fish_values(each.values)}")
        for option in each.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            value = "" if option.values is None else f" -r {_fish_values(option.values)}"
            lines.append(f"complete -c rex -n \"{inside}\" {names}{value} -d '{_fish_text(option.help)}'")
    return "\n".join(lines) + "\n"


_FISH = """\
function __rex_at
    set -l words (commandline -opc)
    set -e words[1]
    set -l path
    for word in $words
        contains -- (string trim -- "$path $word") @commands@; and set path $path $word
    end
    test "$path" = "$argv[1]"
end"""


def _fish_values(values: tuple[str, ...] | str | None) -> str:
    if isinstance(values, tuple):
        return f"-f -a '{' '.join(values)}'"
    return "-F" if values == FILES else "-f"


def _fish_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'").replace("%%", "%")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="whose script")


COMPLETION = Command(
    "completion", "print a script for completion in a shell",
    "Print a script that completes commands, options and files of rex. In bash: eval \"$(rex completion bash)\"; in "
    "zsh the same with zsh, after compinit; in fish: rex completion fish | source.",
    _add_arguments, complete,
)
