"""What convert-gnn-to-kernel writes beside the kernels, for their two other binding times.

structure_writer  @structure: adjacency matrices, from the graph alone
weight_writer     @weights: what products and epilogues take, from the weights alone
"""
