"""From a fused Conv to loops: one function in `scf`, `memref`, `vector` and `arith` a `gnn.fused_conv`.

kernel       the function: row loop, accumulators, epilogue, stores
edge_loop    sums, means, maxima and minima over the edges of a row
softmax      attention: an online softmax over chunks of 16 edges
expressions  what row-wise operations compute, on a few numbers of a row
lanes        which numbers of its operands an operation needs for some numbers of its result
arguments    what a kernel takes, in which order
builder      scalars and vectors with one set of operators
"""
