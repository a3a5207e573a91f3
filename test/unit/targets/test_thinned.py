"""Long series keep their largest values, and of every stretch as much as of any other."""

from gnnc.targets.gpu.thinned import Thinned

MANY = 100_000


def test_a_short_series_is_kept_as_it_is() -> None:
    rows = [(float(i), 7.0 - i) for i in range(63)]
    series = Thinned(2, most=64)
    for row in rows:
        series.append(*row)
    assert list(series) == rows


def test_a_long_series_keeps_its_peaks_and_all_of_its_stretches() -> None:
    series = Thinned(2, most=1024)
    for i in range(MANY):
        series.append(i, i % 1000 == 500)
    kept = list(series)
    assert 512 <= len(kept) < 1024
    assert [at for at, peak in kept if peak] == list(range(500, MANY, 1000))
    together = [b - a for (a, _), (b, _) in zip(kept, kept[1:], strict=False)]
    assert max(together) <= 2 * MANY / 512, "no stretch is thinner than the others"
