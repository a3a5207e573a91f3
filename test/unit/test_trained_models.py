"""Trained models on Cora and CiteSeer: the numbers of the model itself, and the accuracy it was recorded with."""

from pathlib import Path

import pytest

from benchmarks.exactness import MODELS, check, is_right, load_trained_model

DATA = Path(__file__).resolve().parents[2] / "examples" / "data"


@pytest.mark.parametrize("dataset", ["cora", "citeseer"])
@pytest.mark.parametrize("kind", list(MODELS))
def test_equals_the_model_at_every_batch_size(dataset: str, kind: str) -> None:
    trained = load_trained_model(DATA, dataset, kind)
    findings = check(trained)
    assert len(findings) == 4
    assert [f for f in findings if not is_right(f, trained)] == []
