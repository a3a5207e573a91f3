"""The FPGA target: task streams for a sparsity-exploiting accelerator after Dynasparse, its runtime and simulator."""
