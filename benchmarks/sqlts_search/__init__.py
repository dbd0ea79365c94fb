"""The benchmark of SQL-TS and Optimized Pattern Search: section 7 of the paper, what naive may mean, and proofs."""
