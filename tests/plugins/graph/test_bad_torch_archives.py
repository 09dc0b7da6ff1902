"""Damaged and hostile files of torch's programs are refused with an error that names the member, and run nothing."""

from __future__ import annotations

import io
import json
import random
import re
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import lamella
import pytest
from lamella.serialization.errors import CheckpointError

FOLDER = Path(__file__).resolve().parent / "torch_archives"
CODE, MODEL = "code/__torch__.py", "models/model.json"
FORWARD = "class PlaceholderModule(Module):\n  training : bool\n  def forward(self: __torch__.PlaceholderModule,\n"


def members_of(name: str) -> dict[str, bytes]:
    """Returns the members of a recorded file by their names without the folder."""
    return members_of_file(FOLDER / name)


def members_of_file(file) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        return {member.partition("/")[2]: archive.read(member) for member in archive.namelist()}


def file_of(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(f"program/{name}", data)
    file.seek(0)
    return file


def with_body(body: str, parameters: str = "x: Tensor", result: str = "Tensor", more: str = "") -> io.BytesIO:
    """Returns a file whose ``forward`` has a body, and with ``more`` code before it."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"{more}{FORWARD}    {parameters}) -> {result}:\n{lines}"
    return file_of({**members_of("function.pt"), CODE: text.encode()})


def with_model(change, name: str = "layers.pt2") -> io.BytesIO:
    """Returns a file whose model.json a function has changed."""
    members = members_of(name)
    model = json.loads(members[MODEL])
    change(model)
    return file_of({**members, MODEL: json.dumps(model).encode()})


def refusal(file) -> str:
    """Returns the message of the error with which a file is refused."""
    with pytest.raises(CheckpointError) as error:
        lamella.jit.load(file)
    return str(error.value)


def test_the_helpers_make_files_that_load():
    assert lamella.jit.load(with_body("return torch.add(x, 1)"))(lamella.ones(1)).tolist() == [2.0]
    assert lamella.jit.load(with_model(lambda model: None))(lamella.ones(2, 3)).shape == (2, 2)


# ---- code ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body, message",
    [
        ("import os\nreturn x", "a Import is no form that torch writes"),
        ("return (lambda: x)()", "a Lambda is no form that torch writes"),
        ("return [y for y in x]", "a ListComp is no form that torch writes"),
        ("for y in x:\n  pass\nreturn x", "a 'for' over anything but range() is no form that torch writes"),
        ("return eval('x')", "'eval' is not defined"),
        ("return __import__('os').getcwd()", "'__import__' is not defined"),
        ("return print.__self__.eval('x')", "the function 'print' has no attribute '__self__'"),
        ("return getattr(print, '__self__')", "the function 'print' has no attribute '__self__'"),
        ("return int[print('run')]", "this cannot be indexed"),
        ("return annotate(print('run'), x)", "the type 'print('run')' is not read here"),
        ("return unchecked_cast(__torch__.Nothing, x)", "the type '__torch__.Nothing' is not read here"),
        ("y : print('run') = x\nreturn x", "the type 'print('run')' is not read here"),
        ("if isinstance(x, print('run')):\n  pass\nreturn x", "the type 'print('run')' is not read here"),
        ("return CONSTANTS.c7", "the file has no constant 'CONSTANTS.c7'; it has 0"),
        ("return __torch__.os.system('run')", "the file has no '__torch__.os.system'"),
        ("return torch.add(x)", "add: argument 'other' is missing"),
        ("return torch.add(x, y)", "'y' is not defined"),
        ("return 1", "gets a value of type int"),
        ("return x.no_such_method()", "a Tensor has no attribute 'no_such_method'"),
        ("return torch.no_such(ops.mine.thing(x))", f"aten::no_such ({CODE}:5), mine::thing ({CODE}:5)"),
        ("return ops.prim.NumToTensor()", "prim::NumToTensor misses its argument"),
        ("return torch.div()", "argument 'a' is missing"),
        ("return torch.format()", "argument 'self' is missing"),
        ("return fork(x)", "fork() takes a function of the code"),
    ],
)
def test_code_that_is_refused(body, message, capfd):
    text = refusal(with_body(body))
    assert message in text and "code/__torch__.py" in text, text
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    "more, message",
    [
        ("@print\ndef f(x: Tensor) -> Tensor:\n  return x\n", "a decorator is no form that torch writes"),
        ("print('run')\n", "a file of code has functions and classes alone"),
        ("def f(*x: Tensor) -> Tensor:\n  return x\n", "a parameter with '*' is no form that torch writes"),
        ("class PlaceholderModule(Module):\n  pass\n", "__torch__.PlaceholderModule is defined twice"),
    ],
)
def test_files_of_code_that_are_refused(more, message, capfd):
    assert message in refusal(with_body("return x", more=more))
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    "attribute, message",
    [
        ('__annotations__["a\\n}"] = Tensor', "is no name of an attribute"),
        ("__forward_hooks__ = [f]", "PlaceholderModule has hooks, which are not read"),
        ("weight : Tensor", "an object of the class PlaceholderModule has no attribute 'weight'"),
        ("print('run')", "a class has attributes and methods alone"),
    ],
)
def test_classes_that_are_refused(attribute, message):
    code = (
        members_of("function.pt")[CODE].decode().replace("  training : bool\n", f"  training : bool\n  {attribute}\n")
    )
    assert message in refusal(file_of({**members_of("function.pt"), CODE: code.encode()}))


def test_code_is_no_code():
    for text in (b"\xff\xfe", b"class (:", b"\0", b"def f(x):\n  return " + b"-" * 100_000 + b"x\n", b"(" * 5000):
        assert f"the member {CODE!r}" in refusal(file_of({**members_of("function.pt"), CODE: text}))


def test_deep_code_is_refused():
    nested = "torch.add(" * 90 + "x" + ", 1)" * 90
    assert lamella.jit.load(with_body(f"return {nested}"))(lamella.zeros(1)).tolist() == [90.0]
    deep = "torch.add(" * 5000 + "x" + ", 1)" * 5000
    assert "the member 'code/__torch__.py' is no code" in refusal(with_body(f"return {deep}"))
    chain = "return x" + ".t()" * 3000
    assert re.search("nested too deeply|is no code", refusal(with_body(chain)))


def test_work_is_bounded():
    """Each of these loops is compiled twice, since its variable gets a wider type, so that the last is 2**30 times."""
    lines = []
    for i in range(30):
        lines += [f"{'  ' * i}v{i} = None", f"{'  ' * i}for i{i} in range(2):", f"{'  ' * (i + 1)}v{i} = 1"]
    assert "takes more time to read than code of its length may" in refusal(with_body("\n".join([*lines, "return x"])))


def test_types_that_are_large():
    """Each type has the type before it twice, so that the text of the last would have 2**40 types."""
    classes = "class T0(NamedTuple):\n  x : int\n"
    for i in range(1, 41):
        classes += f"class T{i}(NamedTuple):\n  x : __torch__.T{i - 1}\n  y : __torch__.T{i - 1}\n"
    for body, parameter in (("return x", "__torch__.T40"), ("y : Optional[__torch__.T40] = None\nreturn x", "Tensor")):
        text = refusal(with_body(body, f"x: {parameter}", parameter, classes))
        assert "the type '__torch__.T12' has 12287 parts; 10000 are the most" in text and CODE in text
    body = "\n".join(["annotate(List[__torch__.T11], [])"] * 100 + ["return x"])
    assert "takes more time to read than code of its length may" in refusal(with_body(body, more=classes))
    assert lamella.jit.load(with_body("return x", "x: __torch__.T3", "__torch__.T3", classes))


@pytest.mark.parametrize(
    "value, length",
    [("(1,) * 3000000000", 3_000_000_000), ("(1, 2) * 32768", 65_536), ("((1,) * 65535) + (1,)", 65_536)],
)
def test_tuples_that_are_long(value, length):
    text = refusal(with_body(f"y = {value}\nreturn x"))
    assert f"this makes a tuple of {length} items, and 65535 are the most; use a list" in text


def test_tuples_of_tuples():
    body = ["y0 = (x, x)", *(f"y{i} = (y{i - 1}, y{i - 1})" for i in range(1, 40)), "return x"]
    assert "takes more time to read than code of its length may" in refusal(with_body("\n".join(body)))
    assert "takes more time to read" in refusal(with_body("y = (((1,) * 300) * 200,) * 60000\nreturn x"))


def test_versions():
    members = members_of("function.pt")
    assert "has version 11 of torch's operators; version 10 is the newest" in refusal(
        file_of({**members, "version": b"11\n"})
    )
    assert "the version of its operators is b'x'" in refusal(file_of({**members, "version": b"x"}))
    divided = members_of_file(with_body("return torch.div(x, 2)"))
    assert "aten::div has another meaning since version 4 of torch's operators, and the file has version 3" in refusal(
        file_of({**divided, "version": b"3\n"})
    )
    module = lamella.jit.load(file_of({**divided, "version": b"4\n"}))
    assert module(lamella.tensor([1, 2])).tolist() == [0.5, 1.0]


# ---- pickles ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pickle, message",
    [
        (
            b"\x80\x02cos\nsystem\nX\x08\x00\x00\x00echo run\x85R.",
            "the member 'data.pkl' of a BytesIO: it names os.system, which",
        ),
        (b"\x80\x02cbuiltins\neval\nX\x01\x00\x00\x001\x85R.", "it names builtins.eval"),
        (b"\x80\x02c__torch__\nPlaceholderModule\n)\x81K\x01b.", "restores its objects by its own __setstate__"),
        (b"\x80\x02c__torch__\nOther\n)\x81}b.", "is no module of its code"),
        (b"\x80\x02}.", "is no module of its code"),
        (
            b"\x80\x02c__torch__\nPlaceholderModule\n)\x81}X\x08\x00\x00\x00trainingX\x01\x00\x00\x00asb.",
            "has to be bool",
        ),
        (b"\x80\x02(lp0\n.", "the member 'data.pkl'"),
        (b"", "the member 'data.pkl'"),
        (b"\x80\x02X\xff\xff\xff\x7fa.", "it announces 2147483647 more bytes"),
    ],
)
def test_hostile_pickles(pickle, message, capfd):
    assert message in refusal(file_of({**members_of("function.pt"), "data.pkl": pickle}))
    assert capfd.readouterr().out == ""


def test_an_object_within_itself_is_refused():
    code = f"{FORWARD}    x: Tensor) -> Tensor:\n    return x\n".replace(
        "training : bool", "training : bool\n  me : __torch__.PlaceholderModule"
    )
    pickle = (
        b"\x80\x02c__torch__\nPlaceholderModule\n)\x81q\x00}(X\x08\x00\x00\x00training\x88X\x02\x00\x00\x00meh\x00ub."
    )
    text = refusal(file_of({**members_of("function.pt"), CODE: code.encode(), "data.pkl": pickle}))
    assert "an object of the class PlaceholderModule is a part of itself" in text


def with_attribute(attribute: str, pickled: bytes, body: str = "return x") -> io.BytesIO:
    """Returns a file whose module has an attribute, ``a``, with the value of pickled bytes."""
    code = f"{FORWARD}    x: Tensor) -> Tensor:\n    {body}\n".replace("training : bool", f"a : {attribute}")
    pickle = b"\x80\x02c__torch__\nPlaceholderModule\n)\x81}X\x01\x00\x00\x00a" + pickled + b"sb."
    return file_of({**members_of("function.pt"), CODE: code.encode(), "data.pkl": pickle})


def test_containers_that_share_their_parts():
    """Each list has the list before it twice, so that the last would be 2**60 lists if they were copied."""
    lists = b"](]q\x00" + b"".join(b"](h%ch%ceq%c" % (i, i, i + 1) for i in range(60)) + b"e"
    assert "parts, too many for the bytes of 'data.pkl'" in refusal(with_attribute("int", lists))
    shared = with_attribute("List[List[int]]", b"](]q\x00(K\x03eh\x00e", "return x + self.a[0][0] + self.a[1][0]")
    assert lamella.jit.load(shared)(lamella.zeros(1)).tolist() == [6.0]


# ---- archives --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cell.pt", "counts.pt2"])
def test_members_that_are_missing(name):
    members = members_of(name)
    needed = [n for n in members if re.search(r"^data/(\d|weights|constants)|data\.pkl|json$|linear\.py$", n)]
    assert len(needed) > 4
    for member in needed:
        if not member.startswith("extra/"):
            rest = {n: data for n, data in members.items() if n != member}
            text = refusal(file_of(rest))
            assert member in text or "other" in text, (member, text)


@pytest.mark.parametrize("name, member", [("cell.pt", "data/0"), ("counts.pt2", "data/weights/weight_0")])
def test_storages_of_another_size(name, member):
    members = members_of(name)
    assert member in refusal(file_of({**members, member: members[member][:-4]}))


def test_a_member_that_would_be_too_large():
    file = file_of({**members_of("function.pt"), "data.pkl": b"#" * 2**20})
    assert "the member 'data.pkl' would have 1048576 bytes, too many for the file" in refusal(file)


@pytest.mark.parametrize(
    "name, member, text, message",
    [
        ("function.pt", CODE, b"#" * 2**18, "would have 262144 bytes, too many for its size in the file"),
        ("function.pt", CODE, b"def f():\n" + b" -x\n" * 10_000, "has 50"),
        ("layers.pt2", MODEL, b"[" + b"[]," * 40_000 + b"0]", "has 40001 expressions or parts, too many for its size"),
    ],
)
def test_texts_that_are_larger_than_their_size_in_the_file_allows(name, member, text, message):
    """The other bytes of the file, which are many here, allow no further text."""
    stored = {**members_of(name), "data/more": random.Random(39).randbytes(2**18)}
    found = refusal(file_of({**stored, member: text}))
    assert f"the member {member!r} {message}" in found and "too many for its size in the file" in found


def with_weights(count: int, device: dict, bytes_of_each: int = 2**20) -> io.BytesIO:
    """Returns a file with buffers on several devices, which all have the same bytes."""
    members, config = members_of("layers.pt2"), "data/weights/model_weights_config.json"
    model, weights = json.loads(members[MODEL]), json.loads(members[config])
    for i in range(count):
        entry = {"arg": {"name": f"b_{i}"}, "buffer_name": f"b{i}", "persistent": True}
        model["graph_module"]["signature"]["input_specs"].insert(0, {"buffer": entry})
        meta = {
            **weights["config"]["net.0.weight"]["tensor_meta"],
            "sizes": [{"as_int": 1}],
            "strides": [{"as_int": 1}],
        }
        meta["device"] = {key: value + i if key == "index" else value for key, value in device.items()}
        weights["config"][f"b{i}"] = {**weights["config"]["net.0.weight"], "path_name": "all", "tensor_meta": meta}
    members |= {MODEL: json.dumps(model).encode(), config: json.dumps(weights).encode()}
    return file_of({**members, "data/weights/all": bytes(bytes_of_each)}, zipfile.ZIP_STORED)


def test_bytes_of_many_devices_are_read_once():
    """With a function as map_location each device has bytes of its own, whose reads are counted."""
    file = with_weights(30, {"type": "cuda", "index": 0})
    buffers = [b for name, b in lamella.jit.load(file, map_location="cpu").named_buffers() if name.startswith("b")]
    assert len(buffers) == 30 and len({b.untyped_storage().data_ptr() for b in buffers}) == 1
    with pytest.raises(CheckpointError, match="the member 'data/weights/all' would have 1048576 bytes, too many for"):
        lamella.jit.load(file, map_location=lambda storage, device: storage)


@pytest.mark.parametrize("claim", [5, 2**31])
def test_a_member_of_another_size_than_it_says(claim):
    members = {n: data for n, data in members_of("function.pt").items() if not n.endswith("debug_pkl")}
    data = file_of(members).getvalue()
    at = data.rindex(b"PK\x01\x02", 0, data.rindex(b"program/code/__torch__.py"))
    wrong = data[: at + 24] + claim.to_bytes(4, "little") + data[at + 28 :]
    assert "code/__torch__.py" in refusal(io.BytesIO(wrong))


def test_members_that_are_listed_twice_or_encrypted():
    members = members_of("function.pt")
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w") as archive:
        warnings.simplefilter("ignore")
        for name in (*members, CODE):
            archive.writestr(f"program/{name}", members[name])
    assert "a member is listed twice" in refusal(file)
    data = bytearray(file_of(members).getvalue())
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1
    assert "is encrypted" in refusal(io.BytesIO(bytes(data)))
    assert "is neither stored nor deflated" in refusal(file_of(members, zipfile.ZIP_BZIP2))
    assert "with big-endian numbers" in refusal(file_of({**members, "byteorder": b"big"}))


def test_hashes_and_signatures_are_not_there():
    for options in ({"verify": True}, {"keys": [bytes(32)]}):
        with pytest.raises(CheckpointError, match="is a program of torch, which has no hashes and no signature"):
            lamella.jit.load(FOLDER / "function.pt", **options)


def test_show_names_the_way():
    with pytest.raises(CheckpointError, match="function.pt' is a program of torch; jit.load reads it, and a file that"):
        lamella.graph.show(FOLDER / "function.pt")


def test_other_zips_are_no_programs():
    assert "it has no index.json" in refusal(file_of({"data.pkl": b"\x80\x02}."}, zipfile.ZIP_STORED))


# ---- exported programs -----------------------------------------------------------------------------------------------


def graph_of(model: dict) -> dict:
    return model["graph_module"]["graph"]


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda m: m.pop("graph_module"), "the member 'models/model.json': KeyError: 'graph_module'"),
        (
            lambda m: m["schema_version"].update(major=9),
            "has version 9 of the form of exported programs, and 8 is read",
        ),
        (lambda m: m["opset_version"].update(aten=11), "has version 11 of torch's operators"),
        (lambda m: graph_of(m)["nodes"][0].update(target="os.system"), "not here: os.system (models/model.json: node"),
        (lambda m: graph_of(m)["nodes"].reverse(), "node 'linear_1': there is no value 'dropout' before this place"),
        (lambda m: graph_of(m)["nodes"].append(graph_of(m)["nodes"][0]), "the value 'linear' is given twice"),
        (lambda m: graph_of(m)["nodes"][0]["inputs"][0].update(arg={"as_graph": {}}), "of the kind 'as_graph' is not"),
        (lambda m: graph_of(m)["nodes"][0]["inputs"].pop(), None),
        (lambda m: graph_of(m)["nodes"][0]["inputs"].clear(), "node 'linear': linear: argument 'input' is missing"),
        (lambda m: m["graph_module"]["signature"]["input_specs"].pop(), "its inputs do not fit their tree"),
        (lambda m: m["graph_module"]["signature"]["output_specs"].clear(), "its outputs do not fit their tree"),
        (
            lambda m: m["graph_module"]["signature"]["input_specs"][0]["parameter"].update(parameter_name="a\n}"),
            "is no name of a tensor",
        ),
        (
            lambda m: m["graph_module"]["module_call_graph"][0]["signature"].update(out_spec="[" * 20_000),
            "the member 'models/model.json': RecursionError",
        ),
        (
            lambda m: m["graph_module"]["module_call_graph"][0]["signature"].update(
                out_spec='[1, {"type": "os.PathLike"}]'
            ),
            "damaged, or too deep",
        ),
    ],
)
def test_models_that_are_refused(change, message):
    if message is None:  # the bias may be left out
        assert lamella.jit.load(with_model(change))(lamella.ones(2, 3)).shape == (2, 2)
    else:
        assert message in refusal(with_model(change))


@pytest.mark.parametrize(
    "name, message",
    [
        (".".join(["a"] * 20_000), "is no name of a tensor, or has more than 100 dots"),
        (".".join(["a"] * 102), "is no name of a tensor, or has more than 100 dots"),
        ("net..weight", "is no name of a tensor, or has more than 100 dots"),
        ("net.0.bias", "is given twice"),
    ],
)
def test_names_of_tensors_that_are_refused(name, message):
    assert message in refusal(with_name(name))


def test_a_deep_name_of_a_tensor():
    name = ".".join(["a"] * 101)
    assert name in dict(lamella.jit.load(with_name(name)).named_parameters())


def with_name(name: str) -> io.BytesIO:
    """Returns a file whose first weight has another name."""
    members, config = members_of("layers.pt2"), "data/weights/model_weights_config.json"
    model, weights = json.loads(members[MODEL]), json.loads(members[config])
    model["graph_module"]["signature"]["input_specs"][0]["parameter"]["parameter_name"] = name
    weights["config"][name] = weights["config"]["net.0.weight"]
    return file_of({**members, MODEL: json.dumps(model).encode(), config: json.dumps(weights).encode()})


def test_json_that_is_none():
    members = members_of("layers.pt2")
    for text in (b"{", b"[]", b"\xff", b"[" * 20_000):
        assert f"the member {MODEL!r} is no" in refusal(file_of({**members, MODEL: text}))


def test_a_tensor_beyond_its_bytes():
    members = members_of("layers.pt2")
    config = "data/weights/model_weights_config.json"
    weights = json.loads(members[config])
    weights["config"]["net.0.weight"]["tensor_meta"]["sizes"][0]["as_int"] = 2**40
    assert "is damaged: the member 'data/weights/weight_0'" in refusal(
        file_of({**members, config: json.dumps(weights).encode()})
    )


# ---- any bytes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.pt*")))
def test_wrong_bytes(name):
    """A file with wrong bytes, in the archive or in the text of a member, is refused or loads."""
    data, members, chance = (FOLDER / name).read_bytes(), members_of(name), random.Random(39)
    texts = [n for n in members if n.endswith((".py", ".pkl", ".json"))]
    for i in range(20):
        if i % 2:
            wrong = bytearray(data)
            wrong[chance.randrange(len(wrong))] ^= 1 << chance.randrange(8)
            file = io.BytesIO(bytes(wrong))
        else:
            member = chance.choice(texts)
            text = bytearray(members[member])
            at = chance.randrange(len(text) + 1)
            text[at : at + chance.randrange(9)] = chance.choice([b"", b"(", b"x", b", ", b"\n  ", b"0", b'"', b"self."])
            file = file_of({**members, member: bytes(text)})
        try:
            lamella.jit.load(file)
        except CheckpointError as error:
            assert str(error).startswith("load: ")


def test_memory_is_bounded(tmp_path):
    """Files of a few KB that could become large are refused within 200 MB of memory above that of a file that loads."""
    hostile = {
        "zeros.pt": file_of({**members_of("function.pt"), CODE: bytes(2**24)}),
        "list.pt": file_of(
            {**members_of("function.pt"), "data.pkl": b"\x80\x02" + b"]q\x00(" + b"h\x00" * 2**16 + b"e."}
        ),
        "lines.pt": with_body("\n".join(["x"] * 60_000 + ["return x"])),
        "json.pt2": file_of({**members_of("layers.pt2"), MODEL: b"[" + b"[]," * 2**20 + b"0]"}),
    }
    script = (
        "import resource, sys, lamella\n"
        "for name in sys.argv[1:]:\n"
        "    try: lamella.jit.load(name)\n"
        "    except lamella.serialization.errors.CheckpointError: pass\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    paths = [str(FOLDER / "function.pt")]
    for name, file in hostile.items():
        paths.append(str(tmp_path / name))
        (tmp_path / name).write_bytes(file.getvalue())
    ran = subprocess.run([sys.executable, "-c", script, *paths], capture_output=True, text=True, check=True)
    first, *peaks = map(int, ran.stdout.split())
    assert len(peaks) == 4 and all(peak - first < 200_000 for peak in peaks), (first, peaks)
