"""Many patterns and one shared plan: what `benchmarks.workloads` measures."""
