"""Damaged and hostile files of torch's programs are refused with an error that names the member, and run nothing."""

from __future__ import annotations

import io
import random
import re
import subprocess
import sys
import warnings
import zipfile

import lamella
import pytest
from lamella.serialization.errors import CheckpointError
from torch_archive_files import (
    CODE,
    FOLDER,
    FORWARD,
    MODEL,
    file_of,
    members_of,
    members_of_file,
    refusal,
    with_body,
    with_model,
)


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
        ("c : Final[Dict[str, int]] = {[]: 1}", "this is no value of a literal: unhashable type: 'list'"),
    ],
)
def test_classes_that_are_refused(attribute, message):
    code = (
        members_of("function.pt")[CODE].decode().replace("  training : bool\n", f"  training : bool\n  {attribute}\n")
    )
    assert message in refusal(file_of({**members_of("function.pt"), CODE: code.encode()}))


def test_literals_that_are_refused():
    enum = "class E(Enum):\n  a = {{}: 1}\n"
    text = refusal(with_body("return x", "x: Tensor, e: __torch__.E", more=enum))
    assert "this is no value of a literal: unhashable type: 'dict'" in text and CODE in text
    text = refusal(with_body("return x", "x: Tensor, d: Dict[str, int]={[]: 1}"))
    assert "this is no value of a literal: unhashable type: 'list'" in text and CODE in text


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


@pytest.mark.long
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
    constants = b"\x80\x02" + lists.removesuffix(b"e").replace(b"](]q\x00", b"(](K\x01eq\x00", 1) + b"t."
    text = refusal(file_of({**members_of("function.pt"), "constants.pkl": constants}))
    assert "the value in 'constants.pkl' has" in text and "parts, too many for its bytes" in text
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
        ("layers.pt2", MODEL, b"[" + b"[]," * 43_000 + b"0]", "has 43001 expressions or parts, too many for its size"),
    ],
)
def test_texts_that_are_larger_than_their_size_in_the_file_allows(name, member, text, message):
    """The other bytes of the file, which are many here, allow no further text."""
    stored = {**members_of(name), "data/more": random.Random(39).randbytes(2**18)}
    found = refusal(file_of({**stored, member: text}))
    assert f"the member {member!r} {message}" in found and "too many for its size in the file" in found


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
