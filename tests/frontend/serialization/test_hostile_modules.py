"""Hostile files with whole modules: a refusal costs no more than the file, and no code of the file's choice runs."""

import io
import json
import pickle
import struct
import subprocess
import sys
import tracemalloc
from argparse import Namespace
from collections import Counter, OrderedDict, deque

import lamella
import pytest
from lamella import nn, serialization
from lamella.serialization import CheckpointError
from lamella.serialization.archive import ArchiveWriter

PRIME = 2**61 - 1  # Python hashes integers modulo this number
MEMBERS = ("_parameters", "_buffers", "_modules")
called = []


class Caller(nn.Module):
    """A module that notes its calls."""

    def __new__(cls, *args):
        called.append(args)
        return super().__new__(cls)

    def forward(self, *args):
        called.append("forward")
        return {}


def archive(name, data):
    file = io.BytesIO()
    writer = ArchiveWriter(file)
    writer.add(name, data)
    writer.finish()
    file.seek(0)
    return file


def own(obj, **more):
    return archive("index.json", json.dumps(
        {"format": "lamella", "version": 1, "storages": [], "tensors": [], "object": obj, **more}
    ).encode())  # fmt: skip


def of_torch(data):
    return archive("archive/data.pkl", b"\x80\x02" + data + b".")


def text(s):
    return b"X" + struct.pack("<I", len(s.encode())) + s.encode()


def name(module, last):
    return f"c{module}\n{last}\n".encode()


def new(module, last):
    return name(module, last) + b")\x81"


def members(**given):
    """Makes the opcodes of the entries of a module's state."""
    parts = b"".join(text(each) + given.get(each, b"}") for each in MEMBERS)
    return parts + text("training") + b"\x88"


def module(kind, *state, home="evil"):
    return {"$module": [home, kind], "state": list(state)}


def whole(home, kind, **given):
    """Makes the node of a module of the index, with members."""
    return module(kind, *([each, given.get(each, {})] for each in MEMBERS), ["training", True], home=home)


def refusal(file, **keywords):
    with pytest.raises(CheckpointError) as seen:
        lamella.load(file, **keywords)
    return str(seen.value)


def steps(call):
    """Returns the number of lines of Python that a call runs."""
    count = 0

    def trace(frame, event, arg):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def peak(call):
    """Returns the most bytes that a call held at once."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# ---- the costs of a refusal ------------------------------------------------------------------------------------------

KEY = "k" * 20_000
LARGE = {
    "numbers of Lamella": lambda: own({KEY: [*range(5000), module("Net")]}),
    "lists of Lamella": lambda: own({KEY: [*([] for _ in range(5000)), module("Net")]}),
    "numbers of torch": lambda: of_torch(b"}" + text(KEY) + b"](" + b"K\0" * 5000 + new("evil", "Net") + b"es"),
    "lists of torch": lambda: of_torch(b"}" + text(KEY) + b"](" + b"]" * 5000 + new("evil", "Net") + b"es"),
    "a key of shared tuples": lambda: of_torch(
        new("evil", "Net") + b"(K\0\x85" + b"q\0h\0\x86" * 22 + new("evil", "Other") + b"u"
    ),
    "arguments of many calls": lambda: of_torch(
        b"((" + b"K\0" * 3000 + b"tq\0" + name("evil", "Net") + b"q\1" + b"h\1h\0R" * 3000 + b"t"
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", LARGE)
def test_the_memory_of_a_refusal(kind):
    nn.Linear  # noqa: B018 - runs lamella.nn's file, whose memory is none of the file's
    file = LARGE[kind]()
    assert "evil.Net at obj" in refusal(LARGE[kind]())
    assert peak(lambda: refusal(file)) < 2**21 + 30 * len(file.getvalue())


def many_names(n):
    return own([module(f"N{i}") for i in range(n)])


def many_names_of_torch(n):
    return of_torch(b"](" + b"".join(new("evil", f"N{i}") for i in range(n)) + b"e")


def almost(n):
    """Names that are close to one of lamella.nn's: no message looks for the closest."""
    return of_torch(b"](" + b"".join(new("torch.nn", f"Linea{i}") for i in range(n)) + b"e")


def states_again(n):
    state = b"}(" + b"".join(text(f"{i}") + b"]" for i in range(n)) + b"u"
    return of_torch(b"](" + new("evil", "Net") + state + b"q\1b" + b"h\1b" * n + new("evil", "Other") + b"e")


def shared_members(n):
    held = b"}q\1(" + b"".join(text(f"{i}") + b"]" for i in range(n)) + b"u"
    first = new("evil", "Net") + b"}(" + text("_parameters") + held + b"ub"
    others = b"".join(new("evil", "Net") + b"}(" + text("_parameters") + b"h\1ub" for _ in range(n))
    return of_torch(b"](" + first + others + new("evil", "Last") + b"e")


@pytest.mark.parametrize("make", [many_names, many_names_of_torch, almost, states_again, shared_members])
def test_the_steps_of_a_refusal(make):
    refusal(make(2))
    small, large = (steps(lambda n=n: refusal(make(n))) for n in (100, 400))
    assert large < 5 * small and large < 400 * 300
    assert len(refusal(make(2000))) < 4000


def test_the_steps_of_unsafe_globals():
    small, large = (steps(lambda n=n: serialization.get_unsafe_globals_in_checkpoint(almost(n))) for n in (100, 400))
    assert large < 5 * small and large < 400 * 300


def test_keys_of_equal_hashes_in_what_is_not_allowed():
    keys = b"".join(b"\x8a\x0c" + (PRIME * (i + 2**10)).to_bytes(12, "little") + b"N" for i in range(500))
    with pytest.raises(pickle.UnpicklingError, match="same hash"):
        serialization.get_unsafe_globals_in_checkpoint(of_torch(b"}(" + keys + b"u"))


def test_the_line_has_the_first_names_of_many():
    for make in (many_names, many_names_of_torch):
        text = refusal(make(150))
        assert "allow the first 100 of its 150 names by" in text and "evil.N99]" in text
        assert "allow it by" in refusal(make(100))


# ---- the costs of a file that is allowed -----------------------------------------------------------------------------


def modules_with_members_of_one(n):
    held = b"}q\1(" + b"".join(text(f"{i}") + b"N" for i in range(n)) + b"u"
    each = lambda held: new("lamella.nn", "Identity") + b"}(" + members(_parameters=held) + b"ub"  # noqa: E731
    return of_torch(b"](" + each(held) + each(b"h\1") * n + b"e")


def modules_of_ours_with_members_of_one(n):
    first = whole("lamella.nn", "Identity", _parameters={f"{i}": None for i in range(n)})
    return own([first, *(whole("lamella.nn", "Identity", _parameters={"$same": 0}) for _ in range(n))])


@pytest.mark.parametrize("make", [modules_with_members_of_one, modules_of_ours_with_members_of_one])
def test_members_that_modules_share_are_checked_once(make):
    with serialization.safe_globals([nn.Identity]):
        got = lamella.load(make(3))
        assert got[0]._parameters is got[3]._parameters and list(got[0]._parameters) == ["0", "1", "2"]
        small, large = (steps(lambda n=n: lamella.load(make(n))) for n in (100, 400))
        assert large < 5 * small


def test_a_module_gets_its_state_once():
    state = b"}(" + members() + b"uq\1b"
    with serialization.safe_globals([nn.Identity]):
        assert type(lamella.load(of_torch(new("lamella.nn", "Identity") + state))) is nn.Identity
        assert "its state twice" in refusal(of_torch(new("lamella.nn", "Identity") + state + b"h\1b"))


def test_members_that_a_pickle_adds_after_the_state_are_checked():
    made = new("lamella.nn", "Identity") + b"}(" + members(_parameters=b"}q\1") + b"ub"
    file = of_torch(b"](" + made + b"h\1" + text("a") + b"K\1se")
    with serialization.safe_globals([nn.Identity]):
        assert "has a int in _parameters" in refusal(file)


# ---- code that a file may not choose ---------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", ["items", "keys", "update", "move_to_end"])
def test_an_attribute_hides_no_method_of_a_dict(hidden):
    inner = whole(__name__, "Caller")
    dicts = {"$ordered_dict": [], "attributes": [[hidden, inner]]}
    made = new(__name__, "Caller") + b"}(" + members() + b"ub"
    pickled = name("collections", "OrderedDict") + b")R}" + text(hidden) + made + b"sb"
    files = [
        own(dicts),
        own(whole(__name__, "Caller", _parameters=dicts)),
        of_torch(pickled),
        of_torch(new(__name__, "Caller") + b"}(" + members(_parameters=pickled) + b"ub"),
    ]
    with serialization.safe_globals([Caller]):
        for file in files:
            called.clear()
            assert repr(hidden) in refusal(file) and "forward" not in called


def test_no_file_is_written_with_an_attribute_that_hides_a_method():
    for made, hidden in ((OrderedDict(), "update"), (Counter(), "total"), (Namespace(), "_get_kwargs")):
        vars(made)[hidden] = 1
        with pytest.raises(
            TypeError, match=rf"obj\.{hidden} is an attribute that hides a method of {type(made).__name__}"
        ):
            lamella.save(made, io.BytesIO())


def test_new_of_a_module_has_no_arguments():
    state = b"}(" + members() + b"ub"
    with serialization.safe_globals([Caller]):
        called.clear()
        assert "arguments to a new Caller" in refusal(of_torch(name(__name__, "Caller") + b"K\1\x85\x81" + state))
        assert called == []
        lamella.load(of_torch(name(__name__, "Caller") + b")\x81" + state))
        assert called == [()]


def test_a_program_that_ends_itself_when_it_is_imported(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "a_program_that_ends.py").write_text("import sys; sys.exit(3)")
    (tmp_path / "a_program_that_stops.py").write_text("raise KeyboardInterrupt")
    for kind in (module, lambda last, home: new(home, last)):
        for home in ("a_program_that_ends", "a_program_that_stops"):
            node = kind("Net", home=home)
            file = of_torch(node) if isinstance(node, bytes) else own(node)
            if home == "a_program_that_stops":
                with pytest.raises(KeyboardInterrupt):
                    lamella.load(file, weights_only=False)
            else:
                assert "cannot be imported: SystemExit: 3" in refusal(file, weights_only=False)


# ---- messages --------------------------------------------------------------------------------------------------------


def test_places_in_a_file_of_lamella():
    net = module("Net")
    assert "evil.Net at obj.net, which" in refusal(own({"$namespace": [["net", net]]}))
    assert "evil.Net at obj.net, which" in refusal(own({"$ordered_dict": [], "attributes": [["net", net]]}))
    assert "evil.Net at obj[1]['a'].b, which" in refusal(own([0, {"a": {"$namespace": [["b", net]]}}]))
    outer = whole("lamella.nn", "Identity", _modules={"0": net})
    with serialization.safe_globals([nn.Identity]):
        assert "evil.Net at obj.0, which" in refusal(own(outer))
        assert "evil.Net at obj['a b'], which" in refusal(own({**outer, **whole("lamella.nn", "Identity",
                                                                              _modules={"a b": net})}))  # fmt: skip
    deep = net
    for _ in range(100):
        deep = [deep]
    assert f"at obj...{'[0]' * 30}, which" in refusal(own(deep))
    assert f"at obj['{'k' * 60}'...], which" in refusal(own({KEY: net}))


def test_a_tensor_as_the_object_may_hold_a_module():
    tensor = lamella.ones(1)
    tensor.maker = nn.ReLU()
    file = io.BytesIO()
    lamella.save(tensor, file)
    file.seek(0)
    assert "names lamella.nn.ReLU, which is not built" in refusal(file)


def test_a_name_that_can_never_be_allowed_gets_no_advice():
    for file in (own(module("system", home="os")), of_torch(name("os", "system"))):
        assert "os.system" in (text := refusal(file)) and text.endswith("which could run any code")
    for file in (
        own([module("Net"), module("system", home="os")]),
        of_torch(b"](" + new("evil", "Net") + name("os", "system") + b"e"),
    ):
        assert refusal(file).endswith("by import evil; lamella.serialization.add_safe_globals([evil.Net])")


def test_text_of_a_file_is_escaped_in_messages():
    bad = "\x1b[2J"
    for file in (
        own({bad: module("Net", home=bad)}),
        own(whole("lamella.nn", "Identity", _modules={bad: module(bad)})),
        of_torch(b"}" + text(bad) + new(bad, bad) + b"s"),
        of_torch(name("torch", bad)),
        of_torch(name("os", bad)),
    ):
        for value in (True, False):
            file.seek(0)
            with serialization.safe_globals([nn.Identity]):
                assert "\\x1b[2J" in (message := refusal(file, weights_only=value)) and "\x1b" not in message
    assert len(refusal(own(module("N" * 10_000)))) < 600


def test_a_class_of_another_program():
    for file in (own(module("GoneNet", home="__main__")), of_torch(new("__main__", "GoneNet"))):
        assert "no class of __main__; define or import the class here, or, if" in refusal(file, weights_only=False)


@pytest.mark.parametrize("form", ["lamella", "torch"])
def test_a_class_in_a_function_is_refused_with_its_place(form):
    class Inner(nn.Module):
        pass

    with pytest.raises(TypeError, match=r"obj\['net'\]\.0 is a .*<locals>\.Inner, whose class stands in a function"):
        lamella.save({"net": nn.Sequential(Inner())}, io.BytesIO(), format=form)


def test_a_lazy_module_is_one_of_classes(tmp_path):
    """The file of lamella.nn.parallel runs when a name in it is first read."""
    path = tmp_path / "file"
    path.write_bytes(own(whole("lamella.nn.parallel", "DataParallel")).getvalue())
    code = f"import lamella; lamella.nn.Linear; print(type(lamella.load({str(path)!r}, weights_only=False)).__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "DataParallel\n", done.stderr


# ---- deques of torch -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data, expected",
    [
        (b")q\1Rq\2", deque()),
        (b")q\1Rq\2K\7a", deque([7])),
        (b")K\5\x86q\1Rq\2(K\1K\2e", deque([1, 2], 5)),
        (b")K\3\x86q\1Rq\2K\1a", deque([1], 3)),
    ],
)
def test_deques_as_torch_2_13_writes_them(data, expected):
    got = lamella.load(of_torch(b"ccollections\ndeque\nq\0" + data))
    assert type(got) is deque and got == expected and got.maxlen == expected.maxlen
