# lit hands in `config`. Run as `lit test/filecheck`, from anywhere.
import os
import sys
from pathlib import Path

import lit.formats

_root = Path(__file__).resolve().parent

config.name = "gnnc"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir"]
# by name at any depth: dialects and passes must not be here, test/filecheck has such folders too
config.excludes = [".venv", "benchmarks", "build", "docs", "examples"]
config.test_exec_root = str(_root / "build" / "lit")

# lit starts the tests with hardly any variables: gnnc-opt and filecheck are found beside the Python that runs lit
config.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
config.environment["PYTHONWARNINGS"] = "error"
