"""The eager model on slices of its features' columns computes what it computes on all of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from benchmarks import feature_slices
from benchmarks.dynasparse import MODELS
from benchmarks.feature_slices import eager_by_slices


@pytest.mark.parametrize("kind", list(MODELS))
def test_slices_add_up(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_slices, "WIDTH", 4)
    generator = np.random.default_rng(0)
    x = generator.random((20, 10)).astype(np.float32) * (generator.random((20, 10)) < 0.4)
    edges = torch.as_tensor(generator.integers(0, 20, (2, 60)))
    torch.manual_seed(0)
    model = MODELS[kind](10, 6, 3).eval()
    with torch.no_grad():
        expected = model(torch.as_tensor(x), edges).numpy()
    assert np.allclose(eager_by_slices(model, csr_array(x), edges), expected, rtol=0, atol=1e-6)
