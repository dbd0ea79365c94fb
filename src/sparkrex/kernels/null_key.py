"""The key of a NULL among keys by which values are compared: with it no comparison holds."""

from __future__ import annotations

import numpy as np

NULL_KEY = np.int64(-(2**63))
