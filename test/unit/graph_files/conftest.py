"""The karate club, to be written in every layout."""

from pathlib import Path

import pytest

from gnnc import Graph

KARATE = Path(__file__).parents[3] / "examples" / "data" / "graphs" / "karate.npz"


@pytest.fixture(scope="session")
def karate() -> Graph:
    return Graph.load(KARATE)
