"""MATCH_RECOGNIZE by definition: a slow, obvious evaluator of `MatchRecognize` over plain Python values.

It is the second opinion that every matcher is compared with, so it shares nothing with the engine but the algebra: it
imports `sparkrex.ir` and the standard library, nothing else. A row is a mapping from exact input column name to value.
"""

from __future__ import annotations

from tests.modes.rows.oracle.errors import CannotEvaluate, OracleError
from tests.modes.rows.oracle.evaluate import OracleMatch, evaluate, find_matches

__all__ = ["CannotEvaluate", "OracleError", "OracleMatch", "evaluate", "find_matches"]
