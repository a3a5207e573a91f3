from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from gnnc.targets.fpga.architecture import FOLDER, ArchitectureError, load_architecture

U250 = (FOLDER / "u250.toml").read_text()


def test_default() -> None:
    u250 = load_architecture()
    assert (u250.p_sys, u250.cores, u250.n_max) == (16, 7, 512)
    assert u250.bytes_per_cycle == 308
    assert u250.cycles_per_processor_decision == Fraction(250 * 10, 370)
    assert "accelerator.p_sys" in u250.assumed
    assert "host.pcie_gb_per_s" not in u250.assumed


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("p_sys = 16 ", "p_sys = 2 ", "accelerator.p_sys is 2: give a power of two from 4 on"),
        ("p_sys = 16 ", "p_sys = 12 ", "accelerator.p_sys is 12: give a power of two"),
        ("cores = 7", "cores = 0", "accelerator.cores is 0: give a positive whole number"),
        ("cores = 7", "cores = 5000", "accelerator.cores is 5000: give 4096 at most"),
        ("clock_mhz = 250", "clock_mhz = 1e-9", "accelerator.clock_mhz is 1e-09: give 0.001 or more"),
        ("cores = 7", "cores = 7.5", "accelerator.cores is 7.5: give a positive whole number"),
        ("cores = 7", "cores = true", "accelerator.cores is True: give a positive whole number"),
        ("cores = 7", "", "has no accelerator.cores: add it"),
        ("cores = 7", "cores = 7\ncolour = 1", "has an unknown key accelerator.colour: remove it"),
        ("[host]", "[rack]", "has no host.pcie_gb_per_s: add it"),
        ("operand_buffer_bytes = 1048576", "operand_buffer_bytes = 64", "a tile of 16 x 16 numbers must fit"),
        ("result_buffer_bytes = 1048576", "result_buffer_bytes = 1023", "must fit, give 1024 at least"),
        ("er_bytes = 1048576 ", "er_bytes = 99999999999 ", "places within a tile have 16 bits, give 4 GiB at most"),
        ('"memory.burst_bytes"', '"memory.colour"', "assumed names memory.colour"),
        ("[memory]", "[memory", "is no TOML"),
    ],
)
def test_faults(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in U250
    file = tmp_path / "board.toml"
    file.write_text(U250.replace(old, new))
    with pytest.raises(ArchitectureError) as error:
        load_architecture(file)
    assert message in str(error.value)
    assert str(file) in str(error.value)


def test_the_smaller_buffer_limits_tiles(tmp_path: Path) -> None:
    file = tmp_path / "board.toml"
    file.write_text(U250.replace("result_buffer_bytes = 1048576", "result_buffer_bytes = 4096"))
    assert load_architecture(file).n_max == 32


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(ArchitectureError, match=r"u999 is no architecture: give a \.toml file or one of u250"):
        load_architecture("u999")
    with pytest.raises(ArchitectureError, match="can't be read"):
        load_architecture(tmp_path / "none.toml")
