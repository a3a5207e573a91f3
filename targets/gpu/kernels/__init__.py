"""Kernels for the CPU: fused Convs compiled to machine code, kept on disk, called on row ranges by a pool of threads.

compiler     a function in loops becomes machine code, through MLIR
cache        shared libraries on disk, by the hash of what they were made from
machine      which CPU this is
kernel       a fused Conv as something to call with tensors
memrefs      tensors as MLIR takes them
threads      row ranges with equal work, and who computes them
"""
