"""A tensor that requires grad cannot become a number, since its gradient would be lost; other tensors can."""

import sys
from pathlib import Path

import lamella
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "operators"))

from catalogue import BY_TITLE, SAMPLED  # noqa: E402
from lamella.operators import samples  # noqa: E402

NUMBERS = ("Scalar", "float", "Scalar?", "float?")


def cases():
    """Yields (operator, the sample with a number, the number's place or name)."""
    for title in [t for t in SAMPLED if BY_TITLE[t]["category"] != "lists"]:  # lists have overloads for tensors
        by_name = {a["name"]: a for a in BY_TITLE[title]["args"]}
        places = list(by_name)
        for sample in samples.of(title):
            for where, value in [*enumerate(sample.args), *sample.kwargs.items()]:
                name = places[where] if isinstance(where, int) else where
                if isinstance(value, float) and by_name[name]["type"] in NUMBERS:
                    yield pytest.param(sample, where, name, id=f"{title}-{name}")
                    break
            else:
                continue
            break


@pytest.mark.parametrize("sample, where, name", list(cases()))
def test_each_number(sample, where, name):
    args, kwargs = sample.build()
    args = list(args)
    held = kwargs if isinstance(where, str) else args
    value = held[where]
    held[where] = lamella.tensor(value)
    try:
        samples.call(sample.operator)(*args, **kwargs)  # a tensor without grad may become a number
    except RuntimeError:
        assert sample.operator.startswith("scatter")  # a tensor becomes src, whose shape does not fit
        return
    held[where] = lamella.tensor(value, requires_grad=True)
    # An overload with a tensor there may give it a gradient, or lack a tensor elsewhere.
    overloads = [o["args"] for t, o in BY_TITLE.items() if t.partition(".")[0] == sample.operator.partition(".")[0]]
    place = next(i for i, a in enumerate(BY_TITLE[sample.operator]["args"]) if a["name"] == name)
    takes = any(len(args) > place and args[place]["type"].startswith("Tensor") for args in overloads)
    try:
        result = samples.call(sample.operator)(*args, **kwargs)
    except TypeError as error:
        named = name in str(error) and "requires grad" in str(error)
        assert named or (takes and "must be Tensor" in str(error)), error
    else:
        assert takes, result


def test_an_operator_of_a_stranger():
    library = lamella.library.Library("numbers", "DEF")
    library.define("scaled(Tensor self, float factor) -> Tensor")
    library.impl("scaled", lambda x, factor: x * factor)
    w = lamella.tensor(2.0, requires_grad=True)
    with pytest.raises(TypeError, match="argument 'factor' must be float, got .*requires grad.*item"):
        lamella.ops.numbers.scaled(lamella.ones(2), w)
    assert lamella.ops.numbers.scaled(lamella.ones(2), w.detach()).tolist() == [2, 2]
    library.close()
