"""Arguments in, exit code out. The commands themselves are in `run.py`, `show.py`, `workload.py`, `warmup.py` and
`profile.py`.

Exit codes: 0 it went well; 1 the query is wrong; 2 the command is; 3 the query met data, files or a Spark that it could
not work with; 70 a fault of ours; 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import argparse
import sys
import traceback
import warnings
from typing import TYPE_CHECKING

import sparkrex as rex
from sparkrex.cli.failures import Failed, Stopped, UsageError
from sparkrex.cli.files import FORMATS, table_argument
from sparkrex.cli.progress import ERASED
from sparkrex.cli.stream_arguments import PRINTED, add_running_arguments, add_source_arguments
from sparkrex.cli.values import named_value, query_argument, setting_argument

if TYPE_CHECKING:
    from collections.abc import Sequence

OK, WRONG_QUERY, USAGE, FAILED, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 70, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; argparse itself exits with 2, or with 0 after --help."""
    parsed = make_parser().parse_args(arguments)
    usual_form, warnings.formatwarning = warnings.formatwarning, _written_warning
    try:
        match parsed.command:
            case "run":
                from sparkrex.cli.run import run

                run(parsed)
            case "explain":
                from sparkrex.cli.show import explain

                explain(parsed)
            case "workload":
                from sparkrex.cli.workload import explain_workload, run_workload

                (run_workload if parsed.action == "run" else explain_workload)(parsed)
            case "warmup":
                from sparkrex.cli.warmup import warm_up

                warm_up()
            case "profile":
                from sparkrex.cli.profile import profile

                profile(parsed)
            case "version":
                from sparkrex.cli.show import version

                version()
    except UsageError as error:
        action = f" {parsed.action}" if "action" in parsed else ""
        return complain(f"rex {parsed.command}{action}: error: {error}", USAGE)
    except rex.RexError as error:
        if isinstance(error, rex.InternalError) and error.__cause__ is not None:
            traceback.print_exception(error.__cause__)  # for the report that the message asks for
        return complain(error.for_command(), exit_code(error))
    except Failed as error:
        return complain(str(error), INTERNAL if error.is_internal else FAILED)
    except Stopped as stopped:
        return complain(str(stopped), 128 + stopped.signal)
    except KeyboardInterrupt:
        return complain("interrupted", INTERRUPTED)
    except Exception:
        traceback.print_exc()
        return complain("rex: this is a fault of SparkRex, please report it with the lines above", INTERNAL)
    finally:
        warnings.formatwarning = usual_form
    return OK


def _written_warning(message: Warning | str, *_: object, **__: object) -> str:
    """A warning without the line of Python that gave it, which is ours; a terminal may show a stage in that line."""
    return f"{ERASED if sys.stderr.isatty() else ''}warning: {message}\n"


def exit_code(error: rex.RexError) -> int:
    """Who must act: the author of the query, of the command, of the data, or of SparkRex."""
    if error.code == "REX217":  # an unknown dialect or setting: they stand in the command, not in the query
        return USAGE
    if isinstance(error, rex.InternalError):
        return INTERNAL
    return FAILED if isinstance(error, rex.ExecutionError) else WRONG_QUERY


def complain(text: str, code: int) -> int:
    """Print a message for the user and pass the code on."""
    print(text, file=sys.stderr)
    return code


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rex", description="SQL with patterns over files: MATCH_RECOGNIZE, MATCH_EVENTS, MATCH_TRENDS."
    )
    parser.add_argument("--version", action="version", version=f"rex {rex.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run", help="run a query and write its result", epilog=EXIT_CODES,
        description="Run a query over files and write its result: in memory, or on Spark with --master or --remote. "
        "Over streams it runs until it is stopped (Ctrl-C), and gives rows as they are decided.",
    )
    add_query_arguments(run)
    add_source_arguments(run)
    add_running_arguments(run)
    add_output_arguments(run)
    explain = commands.add_parser(
        "explain", help="show the plan of a query", epilog=EXIT_CODES,
        description="Show how a query would run: the matcher, why, and why not the others. Nothing is written.",
    )
    add_query_arguments(explain)
    add_source_arguments(explain)
    explain.add_argument(
        "--analyze", action="store_true", help="run the query too, and show what was found and how long it took"
    )
    add_workload_commands(commands)
    commands.add_parser(
        "warmup", help="compile all kernels",
        description="Compile all kernels and keep the code on disk, so that no query waits for a compiler: in the "
        "folder that NUMBA_CACHE_DIR names, else in the user's cache folder.",
    )
    profile = commands.add_parser(
        "profile", help="measure what the planner of segment searches goes by",
        description="Measure how long operators and aggregates of segment searches take on this machine, and print "
        "both tables. Takes about a minute.",
    )
    profile.add_argument(
        "-o", "--output", metavar="PATH", help="where to write the weights (default: in the package, where the planner "
        "reads them)",
    )
    commands.add_parser("version", help="print the versions of SparkRex, Python and Spark")
    return parser


EXIT_CODES = (
    "Exit codes: 0 ok, 1 the query is wrong, 2 the command is, 3 execution failed, 70 a fault of SparkRex, "
    "130 interrupted, 143 terminated."
)


def add_workload_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from sparkrex.cli.workload import add_workload_arguments, stream_argument

    workload = commands.add_parser(
        "workload", help="run many event patterns by one shared plan",
        description="Find the matches of many event patterns in one stream, by one plan that shares what they have in "
        "common.",
    )
    actions = workload.add_subparsers(dest="action", required=True, metavar="ACTION")
    texts = {
        "run": "write the events of all matches", "explain": "show the shared plan: what serves which patterns, costs",
    }
    for name, text in texts.items():
        action = actions.add_parser(name, help=text, description=text.capitalize() + ".", epilog=EXIT_CODES)
        add_workload_arguments(action)
        action.add_argument(
            "-t", "--table", action="append", default=[], type=stream_argument, metavar="PATH", dest="tables",
            help="the stream: files as for `rex run`",
        )
        add_source_arguments(action, is_named=False)
        add_common_arguments(action)
        if name == "run":
            add_running_arguments(action)
            add_output_arguments(action)
        else:
            action.add_argument("--picture", metavar="PATH", help="where to write the plan as a picture (.svg, .html)")


def add_output_arguments(run: argparse.ArgumentParser) -> None:
    run.add_argument(
        "-o", "--output", metavar="PATH", help="of the result; Spark makes it a folder. Streams need none: their rows "
        "are printed then; or they go to kafka://HOST:PORT/TOPIC",
    )
    run.add_argument(
        "--format", choices=dict.fromkeys((*FORMATS, *PRINTED)), help="of the result (default: by the output's name, "
        "else parquet; of rows that are printed text)",
    )
    run.add_argument("--overwrite", action="store_true", help="replace the output if it exists")


def add_query_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="a file with the query, or - for standard input")
    parser.add_argument(
        "-t", "--table", action="append", default=[], type=table_argument, metavar="NAME=PATH", dest="tables",
        help="a table of the query and its files: .parquet, .csv, .tsv or .json (lines), texts also .gz, .bz2 or .zst; "
        "with * in the name, or a folder, several; may be repeated",
    )
    add_common_arguments(parser)


def add_common_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dialect", default="spark", help="the SQL dialect of the query (default: spark)")
    parser.add_argument(
        "--set", action="append", default=[], type=setting_argument, metavar="NAME=VALUE", dest="settings",
        help="a setting of SparkRex; may be repeated",
    )
    parser.add_argument(
        "--arg", action="append", default=[], type=query_argument, metavar="NAME=VALUE", dest="args",
        help="the value of the parameter :NAME: a number, true, false, null, a date, a timestamp, or text; in single "
        "quotes it is always text; may be repeated",
    )
    spark = parser.add_argument_group("Spark")
    where = spark.add_mutually_exclusive_group()
    where.add_argument("--master", metavar="URL", help="run on Spark: local[*], spark://..., yarn, ...")
    where.add_argument("--remote", metavar="URL", help="run on a Spark Connect server: sc://...")
    spark.add_argument(
        "--conf", action="append", default=[], type=named_value, metavar="NAME=VALUE",
        help="a setting of Spark, for example spark.driver.memory=4g; may be repeated",
    )


if __name__ == "__main__":
    sys.exit(main())
