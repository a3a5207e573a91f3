import os
import pickle
import sys
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch_geometric.nn import GCN, GCNConv

from gnnc import ModelError
from gnnc.model_files import apply_weights, load_model, load_weights

MODEL = """
import torch

class Net(torch.nn.Module):
    def __init__(self, width=2):
        super().__init__()
        self.lin = torch.nn.Linear(3, width)

def make():
    return Net()

def wide(width, depth, *, kind="a"):
    return Net(width)

ready = Net()
number = 3
nothing = lambda: None

def fail():
    return helper()

def helper():
    raise ValueError("no such width\\nsecond line")

def quit():
    raise SystemExit(2)

def broken():
    import missing_dependency
"""


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    file = tmp_path / "model.py"
    file.write_text(MODEL)
    return file


@pytest.mark.parametrize("name", ["Net", "make", "ready"])
def test_models_from_a_file(model_file: Path, name: str) -> None:
    model = load_model(f"{model_file}:{name}")
    assert type(model).__name__ == "Net"
    assert not model.training
    assert sys.modules[type(model).__module__].__file__ == str(model_file)


def test_models_from_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(load_model("torch.nn:Identity"), torch.nn.Identity)
    (tmp_path / "a_package_of_models").mkdir()
    (tmp_path / "a_package_of_models" / "small.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    assert type(load_model("a_package_of_models.small:make")).__name__ == "Net"


def test_modules_beside_the_file_are_its_own(tmp_path: Path) -> None:
    path = list(sys.path)
    for width in (2, 5):
        folder = tmp_path / str(width)
        folder.mkdir()
        (folder / "width_of_model.py").write_text(f"WIDTH = {width}")
        (folder / "model.py").write_text(
            "import torch\ndef make():\n    from width_of_model import WIDTH\n    return torch.nn.Linear(1, WIDTH)\n"
        )
        model = load_model(f"{folder / 'model.py'}:make")
        assert isinstance(model, torch.nn.Linear)
        assert model.out_features == width
    assert sys.path == path


def test_dataclasses_and_layers_of_pyg_find_their_module(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from torch_geometric.nn import MessagePassing\n"
        "from torch import Tensor\n"
        "@dataclass\nclass Config:\n    width: int = 3\n"
        "class Layer(MessagePassing):\n"
        "    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:\n"
        "        return self.propagate(edge_index, x=x)\n"
        "    def message(self, x_j: Tensor) -> Tensor:\n        return x_j\n"
    )
    layer = load_model(f"{tmp_path / 'm.py'}:Layer")
    assert layer(torch.ones(2, 3), torch.tensor([[0], [1]])).tolist() == [[0, 0, 0], [1, 1, 1]]


@pytest.mark.parametrize("spec", ["model.py", ":make", "model.py:", "", "C:\\models\\gcn.py", "c:/models/gcn.py"])
def test_specs_without_a_callable(spec: str) -> None:
    with pytest.raises(
        ModelError, match="does not say what makes the model; write file.py:callable or module:callable"
    ):
        load_model(spec)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", r"model\.py has no 'missing'; it has Net, make, wide and 6 more"),
        (
            "wide",
            r"model\.py:wide takes width, depth, but is called without arguments; add a function that passes them",
        ),
        ("number", r"model\.py:number is of type int; name a function that returns a torch\.nn\.Module"),
        ("nothing", r"model\.py:nothing returned NoneType; it must return a torch\.nn\.Module"),
        ("fail", r"model\.py:fail raised ValueError at .*model\.py:23: no such width\.$"),
        ("quit", r"model\.py:quit raised SystemExit at .*model\.py:26: 2\.$"),
        ("broken", r"model\.py:broken raised ModuleNotFoundError at .*model\.py:29: No module named 'missing_dep"),
    ],
)
def test_callables_that_make_no_model(model_file: Path, name: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load_model(f"{model_file}:{name}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import torch\n1 / 0\n", r"m\.py raised ZeroDivisionError at .*m\.py:2: division by zero"),
        ("def f(:\n", r"m\.py raised SyntaxError at .*m\.py:1: invalid syntax"),
        ("import no_such_module\n", r"m\.py raised ModuleNotFoundError at .*m\.py:1: No module named 'no_such_module'"),
        ("import sys\nsys.exit()\n", r"m\.py raised SystemExit at .*m\.py:2: it does not say why"),
        ("x = 1\n", r"m\.py has no 'make'; write a function that returns the model"),
    ],
)
def test_files_that_fail(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "m.py").write_text(text)
    before = set(sys.modules)
    with pytest.raises(ModelError, match=message):
        load_model(f"{tmp_path / 'm.py'}:make")
    if text != "x = 1\n":
        assert not {name for name in set(sys.modules) - before if name.startswith("gnnc_model")}


def test_models_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"none\.py is not a file; check the path of the model"):
        load_model(f"{tmp_path / 'none.py'}:make")
    with pytest.raises(ModelError, match="There is no module 'no_such_package' here or installed; write"):
        load_model("no_such_package.models:make")
    with pytest.raises(ModelError, match=r"There is no module 'torch\.no_such' here or installed"):
        load_model("torch.no_such:make")


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = torch.nn.Linear(3, 2)
        self.norm = torch.nn.BatchNorm1d(2)


def trained() -> Net:
    net = Net()
    with torch.no_grad():
        net.lin.weight.fill_(7)
    return net


State = dict[str, Any]


def under(key: str, **beside: object) -> Callable[[State], State]:
    return lambda state: {key: state, **beside}


def prefixed(*prefixes: str) -> Callable[[State], State]:
    return lambda state: {"".join(prefixes) + name: value for name, value in state.items()}


@pytest.mark.parametrize("suffix", [".pt", ".pth", ".bin"])
@pytest.mark.parametrize(
    "wrap",
    [
        prefixed(""),
        under("state_dict"),
        under("model_state_dict", optimizer={"state": {}, "param_groups": [{"lr": 0.1}]}, epoch=3),
        under("model", epoch=3),
        prefixed("module."),
        prefixed("_orig_mod."),
        prefixed("module.", "_orig_mod."),
        prefixed("_orig_mod.", "module."),
    ],
)
def test_checkpoints(tmp_path: Path, suffix: str, wrap: Callable[[State], State]) -> None:
    file = tmp_path / f"w{suffix}"
    torch.save(wrap(trained().state_dict()), file)
    net = Net()
    apply_weights(net, load_weights(file), file)
    assert torch.equal(net.lin.weight, torch.full((2, 3), 7.0))


def test_safetensors(tmp_path: Path, model_file: Path) -> None:
    state = {"lin.weight": torch.full((2, 3), 7.0), "lin.bias": torch.zeros(2)}
    save_file(state, tmp_path / "w.safetensors")
    model = load_model(f"{model_file}:make", tmp_path / "w.safetensors")
    assert torch.equal(model.state_dict()["lin.weight"], state["lin.weight"])


def test_a_prefix_that_the_model_has_stays() -> None:
    net = torch.nn.ModuleDict({"module": torch.nn.Linear(1, 1)})
    apply_weights(net, {"module.weight": torch.ones(1, 1), "module.bias": torch.ones(1)}, "w.pt")
    assert net.state_dict()["module.bias"].tolist() == [1]


def test_lazy_layers_take_the_shape_of_the_weights() -> None:
    state = GCNConv(5, 2).state_dict()
    lazy = GCNConv(-1, 2)
    apply_weights(lazy, state, "w.pt")
    assert torch.equal(lazy.state_dict()["lin.weight"], state["lin.weight"])


@pytest.mark.parametrize(
    ("removed", "added", "message"),
    [
        (["lin.bias"], {}, "w.pt lacks weights that Net has: lin.bias; pass the weights"),
        ([], {"extra": torch.ones(1)}, "w.pt has weights that Net does not have: extra; pass"),
        (
            [],
            {"lin.weight": torch.ones(3, 2)},
            r"w.pt has weights of other shapes than Net: lin.weight \[3, 2\] for \[2, 3\]; pass",
        ),
        (
            list(Net().state_dict()),
            {},
            "w.pt lacks weights that Net has: lin.weight, lin.bias, norm.weight and 4 more; pass",
        ),
    ],
)
def test_weights_that_do_not_fit(removed: list[str], added: State, message: str) -> None:
    state = {name: value for name, value in trained().state_dict().items() if name not in removed} | added
    net = Net()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    with pytest.raises(ModelError, match=message):
        apply_weights(net, state, "w.pt")
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_all_that_does_not_fit_is_said_at_once() -> None:
    with pytest.raises(
        ModelError, match="lacks weights that GCN has: .*; and it has weights that GCN does not have: lin"
    ):
        apply_weights(GCN(3, 4, 2), trained().state_dict(), "w.pt")


class Trap:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, (str(self.folder / "sprung"),)


@pytest.mark.parametrize("zipped", [True, False])
def test_code_in_weights_never_runs(tmp_path: Path, zipped: bool) -> None:
    file = tmp_path / "w.pt"
    torch.save({"state_dict": Trap(tmp_path)}, file, _use_new_zipfile_serialization=zipped)
    with pytest.raises(ModelError, match=r"w\.pt holds \w+\.mkdir and not only tensors: torch refuses to unpickle it"):
        load_weights(file)
    file.write_bytes(pickle.dumps(Trap(tmp_path)))
    with pytest.raises(ModelError, match=r"w\.pt"):
        load_weights(file)
    assert not (tmp_path / "sprung").exists()


def test_a_whole_model_is_refused(tmp_path: Path) -> None:
    torch.save(torch.nn.Linear(1, 1), tmp_path / "w.pt")
    with pytest.raises(
        ModelError, match=r"holds torch\.nn\.modules\.linear\.Linear and not only tensors: .*; save model"
    ):
        load_weights(tmp_path / "w.pt")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([torch.ones(1)], r"w\.pt holds list, no weights by name; save model\.state_dict\(\)"),
        (torch.ones(1), r"w\.pt holds Tensor, no weights by name"),
        (
            {"net": OrderedDict(a=torch.ones(1))},
            r"no weights under state_dict, model_state_dict, model, only net; save",
        ),
        ({"state_dict": {"epoch": 3}}, r"no weights under state_dict, model_state_dict, model, only state_dict; save"),
    ],
)
def test_content_without_weights(tmp_path: Path, content: object, message: str) -> None:
    torch.save(content, tmp_path / "w.pt")
    with pytest.raises(ModelError, match=message):
        load_weights(tmp_path / "w.pt")


def test_files_that_are_no_weights(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"none\.pt is not a file; check the path of the weights"):
        load_weights(tmp_path / "none.pt")
    (tmp_path / "w.npz").write_bytes(b"")
    with pytest.raises(
        ModelError, match=r"w\.npz is no file of weights that gnnc reads; pass \.safetensors, \.pt, \.pth"
    ):
        load_weights(tmp_path / "w.npz")


@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
@pytest.mark.parametrize("share", [0, 0.3, 0.99])
def test_truncated_weights(tmp_path: Path, suffix: str, share: float) -> None:
    file = tmp_path / f"w{suffix}"
    state = {"a": torch.ones(100)}
    if suffix == ".pt":
        torch.save(state, file)
    else:
        save_file(state, file)
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(
        ModelError, match=rf"w\{suffix} is damaged or (not written by torch\.save|no \.safetensors file)"
    ):
        load_weights(file)
