"""Classes whose names are words of types in the text of graphs, such as the Generator of many programs."""

import io
import re
from pathlib import Path

import lamella
import pytest
from lamella import jit, nn
from lamella.plugins.graph.script.types import RESERVED

PLUGIN = Path(__file__).resolve().parents[4] / "plugins" / "graph"
X = lamella.tensor([1.0, 2.0])


def loaded(program):
    file = io.BytesIO()
    program.save(file)
    file.seek(0)
    return jit.load(file)


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(lamella.tensor([3.0]))

    def forward(self, x):
        return x * self.weight


class Pair:
    def __init__(self, x: int):
        self.x = x

    def twice(self) -> int:
        return self.x * 2


def doubled(x: int) -> int:
    return Pair(x).twice()


@pytest.fixture
def word(request):
    """Gives the classes of this file a name."""
    kept = {c: c.__name__ for c in (Inner, Pair)}
    for c in kept:
        c.__name__ = request.param
    yield request.param
    for c, name in kept.items():
        c.__name__ = name


WORDS = ["Generator", "Tensor", "Float", "Dict", "Future", "List", "Any", "Device"]


@pytest.mark.parametrize("word", WORDS, indirect=True)
def test_a_class_of_that_name(word):
    net = nn.Sequential(Inner(), Inner())
    for program in (jit.script(net), jit.trace(net, X), jit.script(net[0]), jit.trace(net[0], X)):
        wanted = [9.0, 18.0] if len(list(program.children())) else [3.0, 6.0]
        assert program(X).tolist() == wanted and loaded(program)(X).tolist() == wanted
    assert jit.script(net[0]).original_name == word
    assert jit.script(doubled)(4) == 8 and loaded(jit.script(doubled))(4) == 8


def test_the_words_are_those_of_the_text():
    source = (PLUGIN / "ir" / "type.cpp").read_text()
    simple = re.search(r"string_view simple\[\] = \{(.*?)\};", source, re.DOTALL)[1]
    words = {*re.findall(r'\{"(\w+)", "\w+"\}', source), *re.findall(r'"(\w+)"', simple)}
    words |= set(re.findall(r'word == "(\w+)"', source + (PLUGIN / "text" / "types.cpp").read_text()))
    assert len(words) > 30
    assert words - RESERVED == {"Enum", "InterfaceType"}  # these two are words only before a '<'
