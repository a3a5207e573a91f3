"""The front end: a PyTorch model becomes a module of the `gnn` dialect.

`inputs` decides what the model's arguments are, `capture` runs torch.export on synthetic ones, `value_numbering` turns
the traced graph into `TracedValue`s without duplicates, `binding_time` says what depends on features, `edge_sets` finds
gathers and scatters, `rowwise_rules` proves operators row-wise, and `emit` writes the IR.
"""
