"""The event benchmark: the experiments of the SASE+ paper's section 6, and its Query 2."""
