"""Why a pattern did not match: what is asked, comparisons that were missed, and the answer, for all modes.

What a mode finds out about its own patterns is in its folder, under `why/`. Nothing here knows a mode.
"""
