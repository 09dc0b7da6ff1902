"""The texts of compiled programs: names, places, overloads, and the form of branches and loops."""

import lamella
import pytest
from lamella.plugins.graph import script


def text_of(function):
    """Returns the text of a program without the places of its nodes."""
    lines = script.compile_function(function).text.splitlines()
    return "\n".join(line.partition("  # ")[0] for line in lines)


def loop(x, n: int):
    for i in range(n):
        x = x * i
    return x


def test_loop():
    assert text_of(loop) == (
        "with loop = graph(%x : Tensor, %n : int) {\n"
        "  %1 : bool = prim::Constant[value=True]()\n"
        "  %x.1 : Tensor = prim::Loop(%n, %1, %x)\n"
        "    block0(%i : int, %x.2 : Tensor) {\n"
        "      %x.3 : Tensor = aten::mul.Scalar(%x.2, %i)\n"
        "      %2 : bool = prim::Constant[value=True]()\n"
        "      -> (%2, %x.3)\n"
        "    }\n"
        "  return (%x.1)\n"
        "}"
    )


def branch(x: lamella.Tensor | None, n: int):
    if x is None:
        return lamella.zeros(n)
    return x + n


def test_branch():
    assert text_of(branch) == (
        "with branch = graph(%x : Tensor?, %n : int) {\n"
        "  %1 : NoneType = prim::Constant()\n"
        "  %2 : bool = aten::__is__(%x, %1)\n"
        "  %return : Tensor = prim::If(%2)\n"
        "    block0() {\n"
        "      %3 : int[] = prim::ListConstruct(%n)\n"
        "      %4 : Tensor = aten::zeros(%3)\n"
        "      -> (%4)\n"
        "    }\n"
        "    block1() {\n"
        "      %x.1 : Tensor = prim::unchecked_cast(%x)\n"
        "      %5 : Tensor = aten::add.Scalar(%x.1, %n)\n"
        "      -> (%5)\n"
        "    }\n"
        "  return (%return)\n"
        "}"
    )


def lstm_cell(x, h, c, w_ih, w_hh, b_ih, b_hh):
    gates = x.mm(w_ih.t()) + h.mm(w_hh.t()) + b_ih + b_hh
    i, f, g, o = gates.chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
    return h, c


def test_lstm_cell():
    """The operators are those that Python calls, in their order."""
    called = []

    class Recorder(lamella.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            called.append(getattr(function, "__name__", str(function)))
            return function(*args, **(kwargs or {}))

    r = lamella.randn
    with Recorder():
        lstm_cell(r(2, 3), r(2, 4), r(2, 4), r(16, 3), r(16, 4), r(16), r(16))
    lines = text_of(lstm_cell).splitlines()
    operators = [
        line.partition("= aten::")[2].partition("(")[0].partition(".")[0] for line in lines if "aten::" in line
    ]
    tensors = {"t", "mm", "add", "chunk", "sigmoid", "tanh", "mul"}
    assert operators == [name for name in called if name in tensors]


def test_places():
    """A node names the file, the line and the column of its expression."""
    first = loop.__code__.co_firstlineno
    line = next(line for line in script.compile_function(loop).text.splitlines() if "aten::mul" in line)
    assert line.endswith(f"test_graphs.py:{first + 2}:12")


def searched(xs: list[int], x: int):
    for i, y in enumerate(xs):
        if y == x:
            return i
    return -1


def test_early_return_ends_the_loop():
    text = text_of(searched)
    assert "%returned : bool, %return : int = prim::Loop" in text and "aten::__not__" in text


@pytest.mark.parametrize("flag", [True, False])
def test_known_branches_are_not_compiled(flag):
    class Net(lamella.nn.Module):
        __constants__ = ["flag"]

        def __init__(self):
            super().__init__()
            self.flag = flag

        def forward(self, x):
            if self.flag:
                return x.relu()
            return x.tanh()

    text = script.compile_module(Net()).text
    assert ("aten::relu" in text, "aten::tanh" in text) == (flag, not flag)
    assert "prim::If" not in text


def test_modules_with_equal_attributes_share_a_class():
    net = lamella.nn.Sequential(lamella.nn.Linear(2, 2), lamella.nn.Linear(2, 2), lamella.nn.Linear(2, 3, bias=False))
    compiled = script.compile_module(net)
    names = [info.type.name for _, info in compiled.modules]
    assert names.count("Linear") == 1 or len(set(names)) < len(names)
    assert compiled.text.count("= graph(") == len({n for n in names})


def test_hooks_are_refused():
    net = lamella.nn.ReLU()
    net.register_forward_hook(lambda *args: None)
    with pytest.raises(script.NotSupportedError, match="ReLU: the module has hooks"):
        script.compile_module(net)
