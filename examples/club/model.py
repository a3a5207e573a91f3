"""A GraphSAGE model for Zachary's karate club: which of four communities a member belongs to."""

from torch_geometric.nn.models import GraphSAGE


def build() -> GraphSAGE:
    return GraphSAGE(in_channels=2, hidden_channels=16, num_layers=2, out_channels=4)
