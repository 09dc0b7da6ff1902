"""Each transform of each transform, on each device, and some triples, beside their oracles in numpy; see pairs.py."""

import itertools
import json

import lamella
import pairs
import pytest
from pages import ROOT
from pairs import TRANSFORMS, cell, difference

TRIPLES = list(itertools.product(("vmap", "grad", "jvp", "jacrev"), repeat=3))
TRIPLES += [("functionalize", "vmap", "grad"), ("vmap", "checkpoint", "hessian"), ("hessian", "functionalize", "vmap")]


def table_of_the_page():
    """Returns the cells of the table in docs/transforms.md, by the names of the outer and the inner transform."""
    text = (ROOT / "docs" / "transforms.md").read_text()
    lines = text.partition(pairs.MARKS[0])[2].partition(pairs.MARKS[1])[0].splitlines()
    names = [name.strip() for name in lines[0].split("|")[2:-1]]
    rows = [[c.strip() for c in line.split("|")[1:-1]] for line in lines[2:] if line.startswith("|")]
    return {(row[0].strip("*"), name): c for row in rows for name, c in zip(names, row[1:], strict=True)}


@pytest.mark.parametrize("inner", TRANSFORMS)
@pytest.mark.parametrize("outer", TRANSFORMS)
def test_pairs(outer, inner):
    found = cell(outer, inner)
    assert table_of_the_page()[outer, inner] == ("right" if found == "right" else "refused"), found


def test_the_page_has_the_table():
    assert set(table_of_the_page()) == set(itertools.product(TRANSFORMS, repeat=2))


@pytest.mark.parametrize("device", ["bank", "numpy"])
def test_pairs_on_other_devices(guest, device):
    """The example backends, one of them in Python, compute the same table."""
    found = guest.run(f"""
        import json, sys
        sys.path.insert(0, {str(ROOT / "tests" / "plugins" / "transforms")!r})
        import pairs
        pairs.DEVICE = {device!r}
        names = list(pairs.TRANSFORMS)
        print(json.dumps([[a, b, pairs.cell(a, b)] for a in names for b in names]))
    """)
    page = table_of_the_page()
    wrong = [(a, b, c) for a, b, c in json.loads(found.splitlines()[-1]) if (c == "right") != (page[a, b] == "right")]
    assert not wrong, wrong[:5]


@pytest.mark.parametrize("names", TRIPLES, ids=map(" of ".join, TRIPLES))
def test_triples(names):
    assert difference(names) < 1e-6


@pytest.mark.parametrize("name", TRANSFORMS)
def test_the_oracles_agree_with_one_transform(name):
    assert difference((name,)) < 1e-7


def test_a_wrong_result_is_no_cell(monkeypatch):
    monkeypatch.setitem(TRANSFORMS, "vmap", lambda f: lambda x: TRANSFORMS["grad"](f)(x) * 0)
    with pytest.raises(AssertionError):
        cell("vmap", "grad")


def sums(x):
    """A function of a vector with sums over indices, which several threads add to, and a product of matrices."""
    index = lamella.arange(6000) % 7
    spread = lamella.zeros(7, dtype=x.dtype).index_add(0, index, x[index % 3] * 0.1)
    rows = lamella.zeros(7, 3, dtype=x.dtype).scatter_add(0, (index % 7)[:, None].expand(6000, 3), x.expand(6000, 3))
    return lamella.stack([spread.sin().sum(), (rows @ rows.t()).cos().sum()])


@pytest.mark.parametrize("name", TRANSFORMS)
def test_deterministic_mode(name):
    """Within each transform the mode is on, and two runs by several threads give the same bits."""
    lamella.set_num_threads(2)
    seen = []

    def function(x):
        seen.append(lamella.are_deterministic_algorithms_enabled())
        return sums(x)

    lamella.use_deterministic_algorithms(True)
    try:
        x = lamella.tensor([0.3, -0.7, 1.1], dtype=lamella.float32)
        one, other = (transformed(name, function)(x) for _ in range(2))
    finally:
        lamella.use_deterministic_algorithms(False)
    assert lamella.equal(one, other) and seen and all(seen)


def transformed(name, function):
    """Returns a transform of a function of float32; those of the table are of float64."""
    return lambda x: TRANSFORMS[name](lambda y: function(y.float()).double())(x.double())
