"""The pictures of the cookbook: of every recipe that shows one, the matches of its query on its own rows.

`python -m tests.documentation.recipe_pictures [RECIPE ...]` draws them anew; look at them before you commit.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from tests import golden
from tests.documentation import recipes

import sparkrex as rex

if TYPE_CHECKING:
    from pathlib import Path

    from tests.documentation.recipes import Recipe

PICTURES = recipes.COOKBOOK / "pictures"

_IMAGE = re.compile(r"^!\[(?P<words>[^\]]+)\]\((?P<file>[^)]+\.svg)\)$", re.MULTILINE)

OPTIONS: dict[str, dict[str, Any]] = {
    "batches-with-a-budget": {"title": "Parcels, and the lorries that take them"},
    "bursts": {"title": "Failed logins, and a burst of them"},
    "churn": {"title": "Orders, and customers who fell silent"},
    "consecutive-days": {"title": "Days of activity, and their runs"},
    "deduplicate-neighbours": {"key": {"sensor": "s1"}, "title": "Readings that are kept, and repetitions"},
    "follow-the-goods": {"y": "source", "title": "Chains of shipments, by the site that they leave"},
    "funnel": {"title": "View, cart, purchase within an hour"},
    "funnel-steps": {"title": "How far each visitor got"},
    "hysteresis": {"title": "On above 80, off below 70"},
    "impossible-travel": {"title": "Two cities within an hour"},
    "long-stops": {"title": "A stop of at least five minutes"},
    "missing-approval": {"title": "Created and paid, not approved"},
    "missing-days": {"title": "Gaps between reports"},
    "order-to-cash": {"title": "Orders, and the one that went through all steps"},
    "paths-before-purchase": {"title": "Up to three pages before a purchase"},
    "peaks": {"title": "Readings higher than both neighbours"},
    "retries": {"title": "Failures, up to the success"},
    "rising-runs": {"title": "Three or more rises in a row"},
    "round-trips": {"y": "source", "title": "A round trip among other transfers, by the account that pays"},
    "runs-of-a-state": {"title": "Runs of equal states"},
    "sessions": {"title": "Sessions that end with a pause of 30 minutes"},
    "sessions-with-a-limit": {"title": "Sessions that end after two hours, pause or not"},
    "state-transitions": {"title": "Changes of state"},
    "steep-falls": {"title": "Falls of 10 degrees within three days"},
    "streaks": {"title": "Three or more wins in a row"},
    "three-readings": {"title": "Three readings above 80 within five minutes"},
    "throttle": {"title": "Alerts that are sent, and those that are dropped"},
    "trailing-stop": {"title": "Bought, held, and sold 10 % below the highest"},
    "unanswered": {"title": "Requests without an answer within ten minutes"},
    "v-shapes": {"title": "V shapes"},
    "w-shapes": {"title": "W shapes whose second low is higher"},
    "which-came-first": {"title": "From entry to target or stop"},
}
"""What a recipe says of its picture where the defaults do not show the point."""

OF_RESULTS: dict[str, dict[str, Any]] = {
    "overlapping-intervals": {"start": "in_use_from", "end": "in_use_to", "between": (7.5, 15.5),
                              "title": "When the rooms were in use"},
}
"""Recipes whose answer is drawn instead of their matches: it reaches beyond the rows that it is found in."""


def shown(page: Path) -> list[tuple[str, Path]]:
    """The pictures of a page, as it names them: their words and their files."""
    found = _IMAGE.finditer(page.read_text(encoding="utf-8"))
    return [(one["words"], page.parent / one["file"]) for one in found]


def drawn(recipe: Recipe) -> str:
    """The picture of a recipe."""
    tables = recipe.case.arrow_tables()
    if recipe.name in OF_RESULTS:
        (rows,) = tables.values()
        return rex.plot(golden.run_engine(recipe.case), rows, **OF_RESULTS[recipe.name]).svg
    return rex.plot(recipe.case.query, **tables, **OPTIONS.get(recipe.name, {})).svg


def main(names: list[str]) -> int:
    """Draw all, or some."""
    for page in recipes.pages():
        for _, path in shown(page):
            if not names or page.stem in names:
                path.write_text(drawn(recipes.read(page)), encoding="utf-8")
                print(path.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
