"""An exception that leaves a network names the module that raised it, by its path in the network, once."""

import copy
import pickle
import subprocess
import sys

import lamella
import pytest
from lamella import nn
from lamella.nn.modules import _notes

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="older exceptions have no notes")


class Block(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear1 = nn.Linear(4, features)
        self.linear2 = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear2(self.linear1(x))


class Net(nn.Module):
    """Calls its grandchildren directly, as networks with a ModuleList do."""

    def __init__(self, *features):
        super().__init__()
        self.encoder = nn.Module()
        self.encoder.layers = nn.ModuleList(Block(n) for n in features)

    def forward(self, x):
        for block in self.encoder.layers:
            x = block(x)
        return x


LINE = "in encoder.layers.3.linear2: Linear(in_features=4, out_features=4, bias=True)"


def notes(error):
    return [note for note in error.__notes__ if note.startswith("in ")]


def raised(call, kind=Exception):
    with pytest.raises(kind) as caught:
        call()
    return caught.value


def test_the_path_is_the_whole_one_and_there_once():
    error = raised(lambda: Net(4, 4, 4, 5)(lamella.ones(2, 4)), RuntimeError)
    assert notes(error) == [LINE]
    assert str(error).startswith("linear: argument 'input': 5 features")


def test_through_a_sequence_and_hooks():
    net = nn.Sequential(nn.Identity(), Net(4, 4, 4, 5))
    net.register_forward_hook(lambda module, args, result: None)
    net[1].encoder.layers[3].register_forward_pre_hook(lambda module, args: None)
    assert notes(raised(lambda: net(lamella.ones(2, 4)))) == [LINE.replace("in ", "in 1.", 1)]


def test_the_outermost_alone():
    assert notes(raised(lambda: nn.Linear(4, 5)(lamella.ones(3)))) == [
        "in Linear(in_features=4, out_features=5, bias=True)"
    ]


@pytest.mark.parametrize("kind", [KeyError, AssertionError, AttributeError, NotImplementedError, ZeroDivisionError])
def test_every_kind_of_exception(kind):
    class Own(nn.Module):
        def forward(self):
            raise kind("mine")

    outer = nn.Module()
    outer.part = Own()
    outer.forward = outer.part.__call__
    error = raised(outer, kind)
    assert type(error) is kind and error.args == ("mine",) and notes(error) == ["in part: Own()"]


def test_what_is_no_exception_is_left_alone():
    class Stop(nn.Module):
        def forward(self):
            raise KeyboardInterrupt

    assert not hasattr(raised(Stop(), KeyboardInterrupt), "__notes__")


def test_a_module_that_is_no_member_has_no_path():
    inner = nn.Linear(4, 5)

    class Holder(nn.Module):
        def forward(self, x):
            return inner(x)

    net = nn.Sequential(Holder())
    assert notes(raised(lambda: net(lamella.ones(3)))) == ["in Linear(in_features=4, out_features=5, bias=True)"]


def test_a_wrapping_exception_has_its_own():
    class Wrap(nn.Module):
        def __init__(self):
            super().__init__()
            self.part = nn.Linear(4, 5)

        def forward(self, x):
            try:
                return self.part(x)
            except RuntimeError as error:
                raise ValueError("wrapped") from error

    error = raised(lambda: nn.Sequential(Wrap())(lamella.ones(3)), ValueError)
    assert notes(error) == ["in 0: Wrap()"]
    assert notes(error.__cause__) == ["in Linear(in_features=4, out_features=5, bias=True)"]


def test_it_is_raised_again_elsewhere():
    kept = raised(lambda: Net(4, 4, 4, 5)(lamella.ones(2, 4)))

    class Again(nn.Module):
        def forward(self):
            raise kept

    raised(Again())
    assert notes(kept) == [LINE]


def test_faults_of_the_users_own_texts_hide_nothing():
    class Odd(nn.Linear):
        def extra_repr(self):
            raise AttributeError("no text")

    assert notes(raised(lambda: nn.Sequential(Odd(4, 5))(lamella.ones(3)), RuntimeError)) == ["in 0: Odd"]


def test_the_exception_is_pickled_and_copied():
    error = raised(lambda: Net(5)(lamella.ones(2, 4)), RuntimeError)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert again.args == error.args and len(pickle.dumps(again)) < 2000


def test_a_shared_module_has_its_shortest_name():
    shared = nn.Linear(4, 5)
    net = nn.Sequential(nn.Sequential(shared), shared)

    class Direct(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = net

        def forward(self, x):
            return shared(x)

    assert notes(raised(lambda: Direct()(lamella.ones(3)))) == [
        "in parts.1: Linear(in_features=4, out_features=5, bias=True)"
    ]


def test_where_exceptions_have_no_notes_it_is_a_line_of_the_message():
    """Python 3.10: type and message stay, and both are found."""

    class WithoutNotes:
        @property
        def add_note(self):
            raise AttributeError

    class Old(WithoutNotes, RuntimeError):
        pass

    class OldKey(WithoutNotes, KeyError):
        pass

    inner, outer = nn.Linear(4, 5), nn.Sequential()
    outer.append(inner)
    error = Old("the message")
    _notes.note(inner, error)
    _notes.note(outer, error)
    assert str(error) == "the message\nin 0: Linear(in_features=4, out_features=5, bias=True)"
    numbered = Old(3, "two arguments")
    _notes.note(inner, numbered)
    _notes.note(outer, numbered)
    assert numbered.args == (3, "two arguments")
    missing = OldKey("weight")  # the argument is the key, and no message
    _notes.note(inner, missing)
    _notes.note(outer, missing)
    assert missing.args == ("weight",)


def test_it_is_printed():
    program = "import lamella; from lamella import nn; nn.Sequential(nn.Sequential(nn.Linear(2, 3)))(lamella.ones(4))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "in 0.0: Linear(in_features=2, out_features=3, bias=True)"
