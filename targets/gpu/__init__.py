"""The batched executor: ConvBlocks one after the other, each batch by batch, on a CPU or a CUDA device."""
