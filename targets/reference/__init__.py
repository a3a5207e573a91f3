"""The reference executor: every operation on all rows, one after the other, at any level of the IR."""
