"""Architecture files: what the accelerator and its board can do. Another board is another file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any, cast

FOLDER = Path(__file__).parent / "architectures"
DEFAULT = "u250"
NUMBER_BYTES = 4

# section.key -> whether it must be whole
KEYS = {
    "accelerator.p_sys": True,
    "accelerator.cores": True,
    "accelerator.clock_mhz": False,
    "accelerator.operand_buffer_bytes": True,
    "accelerator.result_buffer_bytes": True,
    "accelerator.resident_buffer_bytes": True,
    "accelerator.shared_buffer_bytes": True,
    "accelerator.conversion_numbers_per_cycle": True,
    "memory.bandwidth_gb_per_s": False,
    "memory.port_bytes_per_cycle": True,
    "memory.burst_bytes": True,
    "soft_processor.clock_mhz": False,
    "soft_processor.cycles_per_decision": True,
    "host.pcie_gb_per_s": False,
}

LEAST = 0.001
MOST_CORES = 4096


class ArchitectureError(ValueError):
    """An architecture file is missing, malformed, or describes no accelerator that the model holds for."""


@dataclass(frozen=True)
class Architecture:
    """An accelerator. Cycles are those of the accelerator's clock; byte rates are exact fractions."""

    name: str
    p_sys: int
    cores: int
    clock_mhz: Fraction
    operand_buffer_bytes: int
    result_buffer_bytes: int
    resident_buffer_bytes: int
    shared_buffer_bytes: int
    conversion_numbers_per_cycle: int
    bandwidth_gb_per_s: Fraction
    port_bytes_per_cycle: int
    burst_bytes: int
    processor_clock_mhz: Fraction
    cycles_per_decision: int
    pcie_gb_per_s: Fraction
    assumed: tuple[str, ...] = ()
    text: str = ""  # the file itself

    @property
    def n_max(self) -> int:
        """The largest partition size: a dense square tile fits an operand buffer, and the result buffer."""
        return isqrt(min(self.operand_buffer_bytes, self.result_buffer_bytes) // NUMBER_BYTES)

    @property
    def bytes_per_cycle(self) -> Fraction:
        """What the memory moves in a cycle of the accelerator, for all cores together."""
        return self.bandwidth_gb_per_s * 1000 / self.clock_mhz

    @property
    def cycles_per_processor_decision(self) -> Fraction:
        """How long the soft processor takes over a decision, in cycles of the accelerator."""
        return self.cycles_per_decision * self.clock_mhz / self.processor_clock_mhz

    def milliseconds(self, cycles: float) -> float:
        return cycles / float(self.clock_mhz) / 1000


def load_architecture(source: str | Path = DEFAULT) -> Architecture:
    """The architecture of a TOML file, or one that comes with gnnc, by name.

    Raises ArchitectureError naming the file and the key.
    """
    path = Path(source)
    if path.suffix != ".toml":
        path = FOLDER / f"{source}.toml"
        if not path.is_file():
            known = ", ".join(sorted(p.stem for p in FOLDER.glob("*.toml")))
            raise ArchitectureError(f"{source} is no architecture: give a .toml file or one of {known}")
    try:
        return parse_architecture(path.read_text(encoding="utf-8"), path)
    except OSError as error:
        raise ArchitectureError(f"{path} can't be read ({error.strerror}): give an architecture file") from None
    except UnicodeDecodeError as error:
        raise ArchitectureError(f"{path} is no TOML ({error}): mend it") from None


def parse_architecture(text: str, path: Path) -> Architecture:
    """The architecture that a text describes; `path` is where it comes from, for messages. Raises ArchitectureError."""
    try:
        contents = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ArchitectureError(f"{path} is no TOML ({error}): mend it") from None
    values = {key: number_at(contents, key, path, whole=whole) for key, whole in KEYS.items()}
    check_unknown(contents, path)
    assumed = contents.get("assumed", [])
    unknown = [key for key in assumed if key not in KEYS] if isinstance(assumed, list) else [assumed]
    if unknown:
        raise ArchitectureError(f"{path}: assumed names {unknown[0]}, which is no key of an architecture: remove it")

    def whole(key: str) -> int:
        return int(values[key])

    architecture = Architecture(
        str(contents.get("name", path.stem)),
        whole("accelerator.p_sys"),
        whole("accelerator.cores"),
        values["accelerator.clock_mhz"],
        whole("accelerator.operand_buffer_bytes"),
        whole("accelerator.result_buffer_bytes"),
        whole("accelerator.resident_buffer_bytes"),
        whole("accelerator.shared_buffer_bytes"),
        whole("accelerator.conversion_numbers_per_cycle"),
        values["memory.bandwidth_gb_per_s"],
        whole("memory.port_bytes_per_cycle"),
        whole("memory.burst_bytes"),
        values["soft_processor.clock_mhz"],
        whole("soft_processor.cycles_per_decision"),
        values["host.pcie_gb_per_s"],
        tuple(cast("list[str]", assumed)),
        text,
    )
    check(architecture, path)
    return architecture


def number_at(contents: dict[str, Any], key: str, path: Path, *, whole: bool) -> Fraction:
    """A positive number of the file, exactly as it is written."""
    section, name = key.split(".")
    table = contents.get(section)
    value = cast("dict[str, Any]", table).get(name) if isinstance(table, dict) else None
    if value is None:
        raise ArchitectureError(f"{path} has no {key}: add it")
    kinds = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not 0 < value < 2**48:
        kind = "whole number" if whole else "number"
        raise ArchitectureError(f"{path}: {key} is {value!r}: give a positive {kind}")
    if value < LEAST:
        raise ArchitectureError(
            f"{path}: {key} is {value!r}: give {LEAST} or more, which is as fine as streams have it"
        )
    return Fraction(str(value))


def check_unknown(contents: dict[str, Any], path: Path) -> None:
    for section, table in contents.items():
        if section in ("name", "assumed"):
            continue
        names = list(cast("dict[str, Any]", table)) if isinstance(table, dict) else [""]
        for name in names:
            if f"{section}.{name}" not in KEYS:
                raise ArchitectureError(f"{path} has an unknown key {section}.{name}".rstrip(".") + ": remove it")


def check(a: Architecture, path: Path) -> None:
    """What the performance model needs to hold."""
    if a.p_sys < 4 or a.p_sys & (a.p_sys - 1):
        raise ArchitectureError(
            f"{path}: accelerator.p_sys is {a.p_sys}: give a power of two from 4 on, where the rule that picks a "
            "primitive finds the fastest"
        )
    if a.cores > MOST_CORES:
        raise ArchitectureError(f"{path}: accelerator.cores is {a.cores}: give {MOST_CORES} at most")
    for name in ("operand_buffer_bytes", "result_buffer_bytes"):
        if getattr(a, name) < a.p_sys * a.p_sys * NUMBER_BYTES:
            raise ArchitectureError(
                f"{path}: accelerator.{name} is {getattr(a, name)}: a tile of {a.p_sys} x {a.p_sys} numbers must fit, "
                f"give {a.p_sys * a.p_sys * NUMBER_BYTES} at least"
            )
    if a.n_max > 32768:
        raise ArchitectureError(
            f"{path}: accelerator.operand_buffer_bytes is {a.operand_buffer_bytes}: places within a tile have 16 bits, "
            "give 4 GiB at most, or a smaller result buffer"
        )
