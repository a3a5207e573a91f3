"""The command line: `gnnc compile`, `run`, `verify`, `inspect`, `explain`. Each command is a file; all load on use."""
