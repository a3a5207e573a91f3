"""Programs that measure gnnc; run from the root of the repository, as `python -m benchmarks.exactness`."""
