"""Kernels for CUDA: fused Convs printed as Triton, from the same region as the CPU's loops.

source       the text of a fused Conv's kernels: whole rows, parts of hubs, and what puts those together
edge_walk    the loop over the edges of a row in it: sums, means, extrema, and softmax
expressions  what row-wise operations compute, on a tile of edges by numbers of a row
places       which numbers of a row those are
kernel       a fused Conv as something to call with tensors on the device
"""
