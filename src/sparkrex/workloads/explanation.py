"""EXPLAIN of a workload: its text, and the shared plan as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkrex.columns.inputs import is_spark
from sparkrex.errors import AnalysisError, RexError
from sparkrex.modes.workload.explain import explain_unseen, explain_workload
from sparkrex.modes.workload.picture import draw
from sparkrex.pipeline import INPUT, open_relation
from sparkrex.workloads.unseen import guessed_stream

if TYPE_CHECKING:
    from sparkrex.modes.workload.explain import WorkloadExplained
    from sparkrex.workloads.workload import Workload


@dataclass(frozen=True, slots=True)
class WorkloadExplanation:
    """The plans of a workload. `str()` is the text; a notebook draws the graph under it.

    `pictures` are SVG, one for every group of patterns with the same keys that has a plan.
    """

    text: str
    pictures: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    @property
    def svg(self) -> str:
        """The picture of the first group's plan."""
        if not self.pictures:
            raise AnalysisError(
                "REX301", "there is no plan to draw: no patterns share one, or Spark's tasks find it", None, None,
                hint="explain a sample of the stream in memory",
            )
        return self.pictures[0]

    def save(self, path: str | Path) -> None:
        """Write the picture, as .svg, or text and pictures as .html."""
        if not str(path).lower().endswith((".svg", ".html", ".htm")):
            raise AnalysisError(
                "REX217", f"a plan is not written as {Path(path).suffix or Path(path).name}", None, None,
                hint="the file's name ends with .svg, or with .html for text and picture",
            )
        is_picture = str(path).lower().endswith(".svg")
        Path(path).write_text(self.svg if is_picture else self._page(), encoding="utf-8")

    def _repr_html_(self) -> str:
        """What a notebook shows; IPython asks for it by this name."""
        text = f'<pre style="font-family: monospace; line-height: 1.2; white-space: pre">{escape(self.text)}</pre>'
        return "".join([text, *self.pictures])

    def _page(self) -> str:
        return f'<!doctype html><meta charset="utf-8"><title>Workload</title>{self._repr_html_()}'


def explain_patterns(workload: Workload, stream: Any, spark: Any) -> WorkloadExplanation:
    """The plan of every group."""
    if spark is not None or (stream is not None and is_spark(stream)):
        return _on_spark(workload, stream, spark)
    if stream is None:
        return _explanation(workload.last_plans or _unseen(workload), "duckdb")
    found = []
    for query in workload.groups().values():
        with open_relation(query, {INPUT: stream}, workload.settings) as (plan, read, evaluator):
            found.append(explain_workload(
                plan, read, evaluator, workload.settings, analyze=False,  # type: ignore[arg-type]
                on_progress=workload.on_progress,
            ))
    return _explanation(found, "duckdb")


def _unseen(workload: Workload) -> list[WorkloadExplained]:
    """Plans without a stream. Where the guessed types do not fit, a stream must be given."""
    table, found = guessed_stream(workload), []
    try:
        for query in workload.groups().values():
            with open_relation(query, {INPUT: table}, workload.settings) as (plan, _, _):
                found.append(explain_unseen(plan))  # type: ignore[arg-type]
    except RexError as error:
        raise AnalysisError(
            "REX214", "the types of columns are not known without a stream, and a guess does not fit", None, None,
            hint="workload.explain(stream)", notes=(error.message,),
        ) from error
    return found


def _explanation(found: list[WorkloadExplained], host: str) -> WorkloadExplanation:
    n_all = sum(len(group.plan.patterns) for group in found)
    lines = [line for group in found for line in (*group.lines(host, n_all), "")]
    descriptions = [group.description() for group in found]
    return WorkloadExplanation(
        "\n".join(lines).rstrip("\n"), tuple(draw(one) for one in descriptions if one is not None)
    )


def _on_spark(workload: Workload, stream: Any, spark: Any) -> WorkloadExplanation:
    from sparkrex.spark.batch import explain_on_spark, physical_plan

    found: list[str] = []
    for _, query in sorted(workload.groups().items()):
        explained, frame = explain_on_spark(query, {INPUT: stream}, spark, workload.settings)
        found += [*explained[0].lines("spark", len(workload)), "", physical_plan(frame).rstrip(), ""]  # type: ignore[call-arg]  # this mode
    if len(workload.groups()) > 1:
        found.insert(0, f"{len(workload.groups())} branches of one query, one for each set of keys\n")
    return WorkloadExplanation("\n".join(found).rstrip("\n"))
