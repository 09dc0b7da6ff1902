"""Names that Python plugins add to the namespace and to Tensor: conflicts, withdrawal, absence, stubs."""

import json
import textwrap
from pathlib import Path

import pytest

TOOLS = str(Path(__file__).resolve().parents[2] / "tools")

HEAD = "from lamella.plugins import hookimpl\n"
BRINGS = (
    HEAD
    + """
from tiny_brings import inner, halo

@hookimpl
def register(ctx):
    ctx.contribute("lamella", {"shine": inner.shine, "Glow": inner.Glow, "halo": halo})
    ctx.contribute("Tensor", {"shine": inner.shine, "glowing": property(inner.glowing)})
"""
)
INNER = '''
"""What the plugin brings."""
from __future__ import annotations

import lamella
imported = []

def shine(self: lamella.Tensor, by: int = 2, *, loud: bool = False) -> lamella.Tensor:
    """Shines."""
    return self * by

class Glow:
    """Glows."""

def glowing(self) -> bool:
    return bool(self.sum() > 0)
'''
MANIFEST = {
    "contributions": {"lamella": ["shine", "Glow", "halo"], "Tensor": ["shine", "glowing"]},
    "attributes": {"sparkle": "int | None"},
    "keywords": {"sparkling": "bool"},
}


@pytest.fixture
def brings(packages):
    """Makes a package that contributes the module `halo`, with a submodule, and `inner`."""

    def make(name="brings", code=BRINGS, manifest=MANIFEST):
        package = packages(name, code, manifest=json.dumps(manifest))
        (package / "inner.py").write_text(INNER)
        (package / "halo").mkdir()
        (package / "halo" / "__init__.py").write_text("from tiny_brings.inner import *\nfrom . import near\n")
        (package / "halo" / "near.py").write_text("")
        (package / "halo" / "late.py").write_text("from tiny_brings import inner\ninner.imported.append(__name__)\n")
        return package

    return make


def test_they_are_there_and_importable(host, brings):
    brings()
    host.run(
        """
        import lamella
        from lamella import Glow, halo, shine
        import tiny_brings

        t = lamella.ones(2)
        assert lamella.shine(t, 3).tolist() == t.shine(3).tolist() == [3, 3] and t.glowing is True
        assert Glow is lamella.Glow is tiny_brings.inner.Glow
        assert {"shine", "Glow", "halo"} <= set(lamella.__all__) and {"shine", "halo"} <= set(dir(lamella))
        assert "shine" in dir(t)

        import lamella.halo
        from lamella.halo import Glow as again, near
        assert lamella.halo is tiny_brings.halo and again is Glow

        # Submodules are those of the package, imported once, whether they were there before or not.
        import lamella.halo.late
        import tiny_brings.halo.late as late
        assert lamella.halo.late is late and late.__name__ == late.__spec__.name == "tiny_brings.halo.late"
        assert tiny_brings.inner.imported == ["tiny_brings.halo.late"]
        import lamella.halo.near
        assert lamella.halo.near is near is tiny_brings.halo.near and near.__spec__.name == "tiny_brings.halo.near"
        try:
            import lamella.halo.never
        except ModuleNotFoundError as error:
            assert "tiny_brings.halo.never" in str(error)
        else:
            raise SystemExit("no error")
        print([(p.state, p.reason) for p in lamella.plugins.status() if p.name == "brings"])
        """
    )


ABSENT = """
    import lamella

    def words(make):
        try:
            make()
        except (AttributeError, ImportError, TypeError) as error:
            return str(error)
        raise SystemExit("no error")

    def from_it():
        from lamella.halo import near

    t = lamella.ones(1)
    texts = [
        words(lambda: lamella.shine),
        words(lambda: lamella.halo),
        words(lambda: __import__("lamella.halo")),
        words(from_it),
        words(lambda: t.shine),
        words(lambda: t.glowing()),
        words(lambda: t.sparkle),
        words(lambda: lamella.zeros(1, sparkling=True)),
        words(lambda: lamella.tensor(1, sparkling=True)),
    ]
    for text in texts:
        assert "is brought by plugin 'brings' (tiny-brings 1.2), which " + WHY in text, text
    assert words(lambda: lamella.rumpelstiltskin) == "module 'lamella' has no attribute 'rumpelstiltskin'"
"""


@pytest.mark.parametrize(
    "code, why, env",
    [
        (BRINGS, "is denied: LAMELLA_PLUGINS=-brings", {"LAMELLA_PLUGINS": "-brings"}),
        (BRINGS, "is denied: LAMELLA_PLUGINS=cpu", {"LAMELLA_PLUGINS": "cpu"}),
        ('raise OSError("on fire")\n', "failed to load: OSError: on fire", {}),
        (BRINGS + '    raise ValueError("too late")\n', "failed to load: ValueError: too late", {}),
    ],
    ids=["denied", "not among the chosen", "failed", "failed after it had brought them"],
)
def test_absence_says_which_plugin_brings_them(host, brings, code, why, env):
    brings(code=code)
    host.run(f"WHY = {why!r}\n" + textwrap.dedent(ABSENT), **env)


def test_a_plugin_that_fails_leaves_nothing(host, brings):
    define = '    ctx.library("mine").define("f(Tensor self) -> Tensor")\n'
    define += '    ctx.contribute("copied", {"glowing": True})\n'
    define += '    ctx.contribute("export", {"own": lambda tensor, to: 1 / 0})\n'
    brings(code=BRINGS + define + '    raise ValueError("too late")\n')
    host.run(
        """
        import sys
        import lamella

        assert not {"shine", "Glow", "halo"} & (set(vars(lamella)) | set(lamella.__all__))
        assert not [m for m in sys.modules if m.startswith("lamella.halo")]
        assert not hasattr(lamella.Tensor, "shine") and not hasattr(lamella.ops.mine, "f")
        from lamella.plugins import contributions

        assert "glowing" not in contributions.copied
        checks = ["autograd.requires_grad", "distributed.c10d", "transforms.tangent"]
        assert list(contributions.place("export").used) == checks
        """
    )


def test_attributes_that_copies_hold_and_checks_of_exports(host, brings):
    more = """
    marks = {}
    mark = property(lambda t: marks.get(id(t)), lambda t, m: marks.__setitem__(id(t), m))
    ctx.contribute("Tensor", {"mark": mark})
    ctx.contribute("copied", {"mark": True})
    ctx.contribute("export", {"mark": lambda t, to: marks[id(t)].append("exported")})
"""
    brings(code=BRINGS + more)
    host.run(
        """
        import copy, pickle
        import lamella

        t = lamella.ones(2)
        memoryview(t)  # no layer follows it: nobody is asked
        t.mark = lamella.zeros(2)  # which is neither true nor false
        assert copy.copy(t).mark is t.mark
        t.mark = ["mine"]
        twins = copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))
        assert [twin.mark for twin in twins] == [["mine"]] * 3
        assert twins[0].mark is t.mark and twins[1].mark is not t.mark
        assert copy.copy(lamella.ones(2)).mark is None
        t.requires_grad = True
        try:
            memoryview(t)
        except RuntimeError as error:
            assert "requires grad" in str(error)
        t.requires_grad = False
        memoryview(t)
        assert t.mark == ["mine"]
        """
    )


def test_readers_and_checks_of_imports(host, packages):
    """An object that a manifest names loads its backend, which reads the object and may refuse DLPack's result."""
    code = (
        HEAD
        + """
import lamella

class Dark(lamella.library.Backend):  # a device without memory
    def alloc(self, nbytes, index, stream):
        raise MemoryError
    free = copy_from_host = copy_to_host = alloc

def read(obj):
    return getattr(obj, "__lamp__", None)

def check(tensor):
    if tensor.numel() == 13:
        raise BufferError("13 lamps are refused")

@hookimpl
def register(ctx):
    ctx.library("aten").register_backend("lamps", Dark())
    ctx.contribute("reader", {"lamps": read})
    ctx.contribute("import", {"lamps": check})
"""
    )
    packages("lamps", code, group="lamella.backends", manifest=json.dumps({"reads": ["__lamp__"]}))
    host.run(
        """
        import sys
        import lamella
        import numpy as np

        class Lamp:
            __lamp__ = lamella.arange(3)

        assert lamella.as_tensor([1, 2]).tolist() == [1, 2] and "tiny_lamps" not in sys.modules
        lamella.from_dlpack(np.ones(13))
        assert lamella.as_tensor(Lamp()) is Lamp.__lamp__ and "tiny_lamps" in sys.modules
        assert lamella.as_tensor(Lamp(), dtype=lamella.float32).tolist() == [0.0, 1.0, 2.0]
        assert lamella.asarray(Lamp(), copy=False) is Lamp.__lamp__
        try:
            lamella.asarray(Lamp(), copy=False, dtype=lamella.float32)
        except ValueError as error:
            assert "needs a copy" in str(error)
        else:
            raise SystemExit("no error")
        assert lamella.from_dlpack(np.ones(12)).numel() == 12
        try:
            lamella.from_dlpack(np.ones(13))
        except BufferError as error:
            assert "13 lamps" in str(error)
        else:
            raise SystemExit("no error")
        """
    )


KEYWORD = """
from lamella.plugins import Keyword

@hookimpl
def register(ctx):
    keyword = Keyword(lambda tensor, value: tensor.fill_({} * value))
    ctx.contribute("keyword", {{"kept": keyword}})
"""
ADVICE = (
    "taken by plugin 'brings'; plugin 'second' cannot bring it too; switch one of them off, as by "
    "LAMELLA_PLUGINS=-brings"
)
CONFLICTS = {
    "a function": ("lamella", "zeros", "lamella.zeros is taken by lamella; plugin 'second' cannot"),
    "a lazy module": ("lamella", "nn", "lamella.nn is taken by lamella"),
    "a module that is not imported": ("lamella", "cli", "lamella.cli is taken by lamella"),
    "a room": ("lamella", "backends", "lamella.backends is taken by lamella"),
    "a plugin's name": ("lamella", "shine", f"lamella.shine is {ADVICE}"),
    "a method": ("Tensor", "add", "Tensor.add is taken by lamella; plugin 'second' cannot"),
    "a property": ("Tensor", "shape", "Tensor.shape is taken by lamella"),
    "a protocol": ("Tensor", "__len__", "Tensor.__len__ is taken by lamella"),
    "a plugin's method": ("Tensor", "glowing", f"Tensor.glowing is {ADVICE}"),
    "no identifier": ("lamella", "a b", "lamella.a b is no identifier"),
}


@pytest.mark.parametrize("where, name, why", CONFLICTS.values(), ids=CONFLICTS)
def test_conflicts_name_both(host, brings, packages, where, name, why):
    """All names of the failed call and of the plugin's earlier calls are withdrawn."""
    brings()
    lines = ["@hookimpl", "def register(ctx):", "    ctx.contribute('lamella', {'first': print})"]
    lines.append(f"    ctx.contribute({where!r}, {{'other': print, {name!r}: print}})")
    packages("second", HEAD + "\n".join(lines))
    host.run(
        """
        import sys
        import lamella

        [p] = [p for p in lamella.plugins.status() if p.name == "second"]
        assert p.state == "failed" and sys.argv[1] in p.reason, p.reason
        assert ("LAMELLA_PLUGINS" in p.reason) == ("plugin 'brings'" in p.reason)  # plugins alone can be switched off
        assert not hasattr(lamella, "first") and not hasattr(lamella, "other") and not hasattr(lamella.Tensor, "other")
        assert lamella.ones(1).shine().item() == 2 and len(lamella.ones(3).add(1)) == 3
        """,
        why,
    )


def test_the_advice_of_a_conflict(host, brings, packages):
    """A keyword of two plugins is the first one's; the second one brings it once the advice of its error is taken."""
    packages("kone", HEAD + KEYWORD.format(1))
    packages("ktwo", HEAD + KEYWORD.format(2))
    program = """
        import lamella

        print(lamella.zeros(1, kept=5).item(), [p.reason for p in lamella.plugins.status() if p.name == "ktwo"])
    """
    error = "RuntimeError: keyword 'kept' is taken by plugin 'kone'; plugin 'ktwo' cannot bring it too; "
    advice = "switch one of them off, as by LAMELLA_PLUGINS=-kone"
    assert host.run(program) == f"5.0 {[error + advice]}\n"
    assert host.run(program, LAMELLA_PLUGINS="-kone") == "10.0 ['']\n"


@pytest.mark.parametrize(
    "name, why",
    [
        ("glowing", "copied 'glowing' is taken by plugin 'brings'; plugin 'second' cannot"),
        ("a b", "copied 'a b' is no identifier"),
    ],
)
def test_copied_attributes_are_one_plugins(host, brings, packages, name, why):
    """The plugin that registered the attribute first stays its owner."""
    brings(code=BRINGS + '    ctx.contribute("copied", {"glowing": True})\n')
    copied = dict.fromkeys(["other", name], True)
    packages("second", HEAD + f"@hookimpl\ndef register(ctx):\n    ctx.contribute('copied', {copied})\n")
    host.run(
        """
        import sys
        import lamella
        from lamella.plugins import contributions

        [p] = [p for p in lamella.plugins.status() if p.name == "second"]
        assert p.state == "failed" and sys.argv[1] in p.reason, p.reason
        held = dict(contributions.copied)
        assert held.pop("glowing").owner == "brings" and list(held) == ["requires_grad"], held
        """,
        why,
    )


def test_planned_names_are_free(host, packages):
    packages(
        "second",
        HEAD
        + """
def refined(self):
    return "refined"

@hookimpl
def register(ctx):
    ctx.contribute("lamella", {"compile": refined})
    ctx.contribute("Tensor", {"is_nested": property(refined)})
""",
    )
    host.run(
        """
        import lamella

        assert lamella.compile(1) == lamella.ones(1).is_nested == "refined"
        """
    )


TENANT = (
    HEAD
    + """
import types
from lamella.plugins import Keyword

def vmap(f):
    return f

def load():
    return "begun"

@hookimpl
def register(ctx):
    script = types.ModuleType("tiny_tenant.compiler", "A compiler.")
    script.script = len
    ctx.contribute("lamella", {"compiler": script, "compile": vmap})
    ctx.contribute("lamella.optim", {"vmap": vmap})
    ctx.contribute("lamella.hub", {"load": load})
    ctx.contribute("lamella.export", {"export": len})
    ctx.contribute("lamella.depth.deeper", {"rfft": len})
    ctx.contribute("keyword", {"filled": Keyword(lambda tensor, value: tensor.fill_(value))})
    ctx.contribute("repr", {"size": lambda tensor: "odd" if tensor.numel() % 2 else None})
"""
)
PROMISES = {
    "contributions": {
        "lamella": ["compiler", "compile"],
        "lamella.optim": ["vmap"],
        "lamella.hub": ["load"],
        "lamella.export": ["export"],
        "lamella.depth.deeper": ["rfft"],
    },
    "keywords": ["filled"],
}


def test_tenants_bring_planned_modules(host, packages):
    """A plugin replaces placeholder modules and functions, adds to existing modules, and makes missing ones."""
    packages("tenant", TENANT, manifest=json.dumps(PROMISES))
    host.run(
        """
        import lamella

        [tenant] = [p for p in lamella.plugins.status() if p.name == "tenant"]
        assert tenant.state == "loaded", tenant.traceback
        from lamella.compiler import script
        from lamella.optim import SGD, vmap
        import lamella.export, lamella.depth.deeper, lamella.hub

        assert script is lamella.compiler.script is len and lamella.compile is vmap
        assert {"vmap", "SGD"} <= set(lamella.optim.__all__) and "export" in lamella.__all__
        assert lamella.hub.load() == "begun"
        try:
            lamella.hub.list()
        except NotImplementedError as error:
            assert "downloads neither" in str(error)
        assert lamella.export.export is lamella.depth.deeper.rfft is len
        assert lamella.zeros(2, filled=3).tolist() == [3, 3]
        assert repr(lamella.ones(1)) == "tensor([1.], odd)" and "odd" not in repr(lamella.ones(2))
        x = lamella.ones(1, requires_grad=True)
        assert repr(x) == "tensor([1.], requires_grad=True, odd)"
        """
    )


def test_a_tenant_that_fails_leaves_the_modules_as_they_were(host, packages):
    packages("tenant", TENANT + '    raise OSError("after all that")\n', manifest=json.dumps(PROMISES))
    host.run(
        """
        import sys
        import lamella

        def words(make):
            try:
                make()
            except (AttributeError, ImportError, TypeError) as error:
                return str(error)
            raise SystemExit("no error")

        assert lamella.compiler.is_compiling() is False and sys.modules["lamella.compiler"] is lamella.compiler
        assert "downloads neither" in repr(lamella.hub.load) and not hasattr(lamella.optim, "vmap")
        assert not [m for m in sys.modules if m.startswith(("lamella.export", "lamella.depth"))]
        assert lamella.__all__.count("compiler") == 1 and "export" not in lamella.__all__
        why = "is brought by plugin 'tenant' (tiny-tenant 1.2), which failed to load: OSError: after all that"
        for make, what in (
            (lambda: lamella.optim.vmap, "lamella.optim.vmap "),
            (lambda: __import__("lamella.export"), "lamella.export "),
            (lambda: __import__("lamella.depth.deeper"), "lamella.depth "),
            (lambda: lamella.zeros(1, filled=2), "'filled' "),
        ):
            assert what + why in words(make), words(make)
        assert repr(lamella.ones(1)) == "tensor([1.])"
        """
    )


def test_contributions_stack_over_placeholders_alone():
    """A contribution hides a placeholder until its withdrawal; a withdrawal in any order keeps the others."""
    from lamella.plugins import contributions

    def put(owner, o, placeholder=False):
        return contributions.contribute(contributions.gather("lamella.stacked", {"x": o}, owner, placeholder))

    import sys

    low, high = put("low", 1, placeholder=True), put("high", 2, placeholder=True)
    stacked = sys.modules["lamella.stacked"]
    real = put("real", 3)
    assert stacked.x == 3 and contributions.holder("lamella.stacked", "x") == "plugin 'real'"
    with pytest.raises(RuntimeError, match="lamella.stacked.x is taken by plugin 'real'; plugin 'other' cannot"):
        put("other", 4)
    high()
    real()
    assert stacked.x == 1 and contributions.holder("lamella.stacked", "x") == ""
    low()
    assert "lamella.stacked" not in sys.modules


@pytest.mark.parametrize("where", ["nowhere", "torch.func", "lamella..x", "", None, 3])
def test_places_that_do_not_exist(where):
    from lamella.plugins import contributions

    with pytest.raises(ValueError, match="there is no place .*; it is 'lamella', the path of a module in it, 'Tensor'"):
        contributions.contribute(contributions.gather(where, {"x": 1}, "mine"))


def test_a_name_that_is_no_module_takes_no_contributions():
    import lamella
    from lamella.plugins import contributions

    for where in ("lamella.Tensor", "lamella.add"):
        with pytest.raises(RuntimeError, match=f"{where} is no module, but"):
            contributions.contribute(contributions.gather(where, {"x": 1}, "mine"))
    assert isinstance(lamella.Tensor, type) and lamella.add(lamella.ones(1), 1).item() == 2


def test_a_lazy_module_keeps_its_names():
    """A lazy module's file runs before a plugin's name is compared with the names in that file."""
    import lamella
    from lamella.plugins import contributions

    with pytest.raises(RuntimeError, match="lamella.optim.SGD is taken by lamella; plugin 'mine' cannot"):
        contributions.contribute(contributions.gather("lamella.optim", {"SGD": print}, "mine"))
    assert lamella.optim.SGD is not print


WRONG = [
    ("repr", 3, "repr 'x' must be a function, got int"),
    ("keyword", len, "keyword 'x' must be a Keyword, got builtin_function_or_method"),
    ("copied", False, "copied 'x' must be True, got False"),
]


@pytest.mark.parametrize("where, o, words", WRONG)
def test_points_refuse_other_objects(where, o, words):
    from lamella.plugins import contributions

    with pytest.raises(ValueError, match=words):
        contributions.contribute(contributions.gather(where, {"x": o}, "mine"))


def test_a_tuple_of_names_grows_and_shrinks():
    import sys
    import types

    from lamella.plugins import contributions

    listed = types.ModuleType("listed")
    listed.__all__ = ("x",)
    brought = contributions.contribute(contributions.gather("lamella", {"listed": listed}, "one"))
    more = contributions.contribute(contributions.gather("lamella.listed", {"more": 1}, "two"))
    assert listed.more == 1 and list(listed.__all__) == ["x", "more"]
    more()
    assert not hasattr(listed, "more") and list(listed.__all__) == ["x"]
    brought()
    assert "lamella.listed" not in sys.modules


def test_every_point_says_what_it_takes():
    import lamella

    page = Path(__file__).resolve().parents[2] / "docs" / "write_a_layer.md"
    assert all(f"| `{point}` |" in page.read_text() for point in lamella.plugins.POINTS)


def test_the_nearest_manifest_of_a_module_in_a_package(host, packages):
    """One distribution has two plugins: each uses its own manifest, or else that of the enclosing folder."""
    package = packages("outer", "raise SystemExit('imported')\n", manifest='{"reads": ["around"]}')
    for name, manifest in (("a", '{"reads": ["own"]}'), ("b", None)):
        (package / name).mkdir()
        (package / name / "__init__.py").write_text("raise OSError('on fire')\n")
        if manifest:
            (package / name / "lamella.json").write_text(manifest)
    host.run(
        """
        from lamella.plugins.manifests import read_manifest

        assert read_manifest("tiny_outer.a") == {"reads": ["own"]} == read_manifest("tiny_outer.a.deep.deeper")
        assert read_manifest("tiny_outer.b") == {"reads": ["around"]} == read_manifest("tiny_outer")
        assert read_manifest("no_such_package.b") == {}
        """,
        LAMELLA_PLUGINS="cpu",
    )


def test_a_manifest_for_a_later_version(host, packages):
    """It may have keys that are unknown here, and is refused for its version."""
    packages("later", "", manifest='{"requires_lamella": ">=99", "novelties": []}')
    out = host.run("import lamella; print(*(p.state for p in lamella.plugins.status() if p.name == 'later'))")
    assert out.strip() == "refused"


@pytest.mark.parametrize(
    "manifest, word",
    [
        ('{"contributions": ["shine"]}', "'contributions' must be dict, got ['shine']"),
        ('{"contributions": {"lamella": [1]}}', "'contributions' must map places to lists of names, got [1]"),
        ('{"contributions": {"lamella": "shine"}}', "lists of names, got 'shine' for 'lamella'"),
        ('{"attributes": {"a": 1}}', "'attributes' must hold strings, got {'a': 1}"),
        ('{"contribution": {}}', "there is no key 'contribution'; the keys are 'host',"),
    ],
)
def test_manifests_that_are_wrong(host, packages, manifest, word):
    packages("wrong", "", manifest=manifest)
    out = host.run(
        "import lamella; print(*(p.state + p.reason for p in lamella.plugins.status() if p.name == 'wrong'))"
    )
    assert "failed" in out and word in out


@pytest.mark.long
def test_stubs_declare_them(host, brings, tmp_path):
    """Stubs import names from their definitions, and have methods' signatures and the manifest's attribute types."""
    brings()
    out = json.loads(
        host.run(
            f"""
            import json, sys
            sys.path.insert(0, {TOOLS!r})
            import stubs

            print(json.dumps(stubs.files("tiny-brings") | {{"ours": stubs.files()["_C.pyi"]}}))
            """
        )
    )
    package, native = out["__init__.pyi"].splitlines(), out["_C.pyi"].splitlines()
    assert "from tiny_brings.inner import shine as shine" in package
    assert "from tiny_brings.inner import Glow as Glow" in package
    assert "from lamella import halo as halo" in package
    assert out["halo.pyi"].endswith("from tiny_brings.halo import *\n")
    assert "    def shine(self, by: _int = ..., *, loud: _bool = ...) -> Tensor: ..." in native
    assert "    glowing: _bool" in native and "    sparkle: _int | None" in native
    assert any(line.startswith("def zeros(") and "sparkling: _bool = ..." in line for line in package)
    assert not any(line.startswith("def sum(") and "sparkling" in line for line in package)
    assert "shine" not in out["ours"]
