"""lamella.library: kinds of Library, torch's way of writing calls, custom_op, and registrations for an operator."""

from __future__ import annotations

import gc
import weakref

import lamella
import numpy as np
import pytest
from lamella import Tensor, library
from lamella.library import Library, custom_op

# ---- kinds of library --------------------------------------------------------------------------------------------


def test_one_library_defines_a_namespace(ns):
    first = Library(ns, "DEF", owner="the first")
    with pytest.raises(RuntimeError, match=f"'{ns}' is defined by the first; the second.*{ns}_v2"):
        Library(ns, "DEF", owner="the second")
    first.close()
    Library(ns, "DEF", owner="the second").close()


def test_nobody_else_defines_aten():
    with pytest.raises(RuntimeError, match="'aten' is defined by lamella; a stranger cannot"):
        Library("aten", "DEF", owner="a stranger")


def test_a_fragment_adds_and_an_implementation_does_not(ns, opened):
    opened(Library(ns, "DEF")).define("f(Tensor x) -> Tensor")
    fragment = opened(Library(ns, "FRAGMENT"))
    fragment.define("g(Tensor x) -> Tensor")
    kernels = opened(Library(ns, "IMPL", "cpu", owner="an implementer"))
    with pytest.raises(RuntimeError, match=f"{ns}::h.*an implementer.*kind IMPL"):
        kernels.define("h(Tensor x) -> Tensor")
    for name in "fg":
        kernels.impl(name, lambda x: x + 1)
        assert getattr(getattr(lamella.ops, ns), name)(lamella.ones(1)).item() == 2
        with pytest.raises(NotImplementedError, match="no kernel for device 'meta'"):
            getattr(getattr(lamella.ops, ns), name)(lamella.ones(1, device="meta"))


def test_a_library_stays_in_its_namespace(ns, opened):
    with pytest.raises(ValueError, match=f"other::f is outside the namespace '{ns}'"):
        opened(Library(ns, "DEF")).define("other::f(Tensor x) -> Tensor")
    opened(Library(ns + "b", "DEF")).define(f"{ns}b::f(Tensor x) -> Tensor")


@pytest.mark.parametrize("key", ["CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd"])
def test_keys_as_torch_spells_them(ns, opened, key):
    lib = opened(Library(ns, "DEF", key))
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1)
    assert getattr(lamella.ops, ns).f(lamella.ones(1)).item() == 2


def test_two_versions_side_by_side(ns, opened):
    for version in (1, 2):
        lib = opened(Library(f"{ns}_v{version}", "DEF"))
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x, v=version: x * v)
    x = lamella.tensor([5])
    assert [getattr(lamella.ops, f"{ns}_v{v}").f(x).item() for v in (1, 2)] == [5, 10]


def test_functions_without_a_library(ns, opened):
    lib = opened(library.define(f"{ns}::f", "(Tensor x) -> Tensor"))

    @library.impl(f"{ns}::f", "default", lib=lib)
    def f(x):
        return x + 1

    @library.register_kernel(getattr(lamella.ops, ns).f, "meta", lib=lib)
    def meta(x):
        return lamella.empty_like(x)

    assert getattr(lamella.ops, ns).f(lamella.ones(1)).item() == 2 and f(1) == 2
    assert getattr(lamella.ops, ns).f(lamella.ones(2, device="meta")).shape == (2,)


def test_a_kernel_for_every_device_gives_way_to_a_devices_own(ns, opened):
    lib = opened(Library(ns, "DEF"))
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "backend")
    f = getattr(lamella.ops, ns).f
    assert f(lamella.ones(1)).item() == 2
    lib.impl("f", lambda x: x + 10, "cpu")
    assert f(lamella.ones(1)).item() == 11
    handle = lib.disable_kernel("f", "cpu")
    with pytest.raises(NotImplementedError, match="disabled"):
        f(lamella.ones(1, device="meta"))
    lib.withdraw(handle)
    with pytest.raises(NotImplementedError, match="no kernel for device 'meta'"):
        f(lamella.ones(1, device="meta"))


# ---- torch's way of writing calls ----------------------------------------------------------------------------------


def test_impl_of_a_library(ns, opened):
    lib = opened(Library(ns, "DEF"))
    for name in ("f", "g", "h"):
        lib.define(f"{name}(Tensor x) -> Tensor", "FROM_SCHEMA", tags=())

    @library.impl(lib, "f", "CPU")
    def f(x):
        return x + 1

    @library.impl(lib, "g")
    def g(x):
        return x + 2

    library.impl(lib, "h", dispatch_key="cpu")(g)
    x, ops = lamella.zeros(1), getattr(lamella.ops, ns)
    assert f(0) == 1 and [op(x).item() for op in (ops.f, ops.g, ops.h)] == [1, 2, 2]
    assert [k for n in "fgh" for k, _ in lamella._C._describe(f"{ns}::{n}")["kernels"]] == ["cpu", "composite", "cpu"]
    with pytest.raises(TypeError, match="impl: argument 'dispatch_key' belongs to impl"):
        library.impl(f"{ns}::f", "cpu", f, dispatch_key="CPU")
    with pytest.raises(TypeError, match="impl: argument 'lib': the library is the first argument already"):
        library.impl(lib, "f", "CPU", lib=lib)


def test_keywords_of_torch(ns, opened):
    lib = opened(Library(ns, "DEF"))
    lib.define(schema="f(Tensor x) -> Tensor", alias_analysis="", tags=("core",))
    lib.impl(op_name="f", fn=lambda x: x + 1, dispatch_key="CPU")
    opened(library.define(f"{ns}::g", "(Tensor x) -> Tensor", tags="core"))
    op = opened(custom_op(f"{ns}::h", numpy_sin, mutates_args=(), tags=["core"]))
    assert getattr(lamella.ops, ns).f(lamella.zeros(1)).item() == 1 and op(lamella.zeros(1)).item() == 0
    with pytest.raises(ValueError, match="argument 'alias_analysis': expected 'FROM_SCHEMA' .*got 'CONSERVATIVE'"):
        lib.define("i(Tensor x) -> Tensor", "CONSERVATIVE")


def test_default_is_every_device_and_the_overload_without_a_name(ns, opened):
    lib = opened(Library(ns, "DEF"))
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f.default", lambda x: x + 1, "default")
    f, x = getattr(lamella.ops, ns).f, lamella.zeros(1)
    assert f(x).item() == 1 and [k for k, _ in lamella._C._describe(f"{ns}::f")["kernels"]] == ["backend"]
    library.register_fake(f"{ns}::f.default", lambda x: x.new_empty(7), lib=lib)
    assert f(lamella.empty(1, device="meta")).shape == (7,)
    lib.register_autograd("f.default", lambda ctx, grad: grad * 3)
    assert [r.op for r in library.rules(f"{ns}::f.default")] == [f"{ns}::f"]
    assert library.get_kernel(f"{ns}::f.default", "backend")(x).item() == 1
    with pytest.raises(ValueError, match="other than 'default', which is the one without a name"):
        lib.define("g.default(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match=f"argument 'name': expected .* got '{ns}::g.default'"):
        custom_op(f"{ns}::g.default", numpy_sin, mutates_args=())


# ---- custom_op -----------------------------------------------------------------------------------------------------


def numpy_sin(x: Tensor) -> Tensor:
    """The sine, by numpy."""
    return lamella.from_numpy(np.sin(x.numpy()))


def test_an_operator_from_a_function(ns, opened):
    op = opened(custom_op(f"{ns}::sin", mutates_args=())(numpy_sin))
    x = lamella.tensor([1.0, 2.0])
    assert np.allclose(op(x).numpy(), np.sin([1, 2])) and op(x=x).shape == (2,)
    assert isinstance(op, library.CustomOpDef) and op.__name__ == "sin" and op.__wrapped__ is numpy_sin
    assert "sin(Tensor x) -> Tensor" in repr(op) and "by numpy" in getattr(lamella.ops, ns).sin.__doc__
    with pytest.raises(TypeError, match=f"{ns}::sin"):
        op(x, x)
    op.close()
    with pytest.raises((RuntimeError, AttributeError), match="sin"):
        op(x)


@pytest.mark.needs("autograd")
def test_it_is_opaque_to_autograd(ns, opened):
    op = opened(custom_op(f"{ns}::sin", numpy_sin, mutates_args=()))
    x = lamella.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match=f"{ns}::sin"):
        op(x).sum().backward()
    op.register_autograd(
        lambda ctx, grad: grad * ctx.saved_tensors[0].cos(),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    op(x).sum().backward()
    assert np.allclose(x.grad.numpy(), np.cos([1, 2]))


def test_what_it_writes_to_is_counted(ns, opened):
    @custom_op(f"{ns}::fill", mutates_args=("x",))
    def fill(x: Tensor, value: float) -> None:
        x.numpy().fill(value)

    opened(fill)
    x = lamella.zeros(2)
    version = x._version
    assert fill(x, 3.0) is None
    assert x.tolist() == [3, 3] and x._version == version + 1


def test_kernels_for_devices(ns, opened):
    op = opened(
        custom_op(f"{ns}::f", lambda x: x + 1, mutates_args=(), device_types="cpu", schema="(Tensor x) -> Tensor")
    )
    with pytest.raises(NotImplementedError, match="'meta'"):
        op(lamella.ones(1, device="meta"))

    @op.register_fake
    def fake(x):
        return lamella.empty_like(x)

    assert op(lamella.ones(3, device="meta")).shape == (3,)
    op.register_kernel("cpu", lambda x: x + 2)
    assert op(lamella.ones(1)).item() == 3
    op.register_kernel(None, lambda x: x + 4)
    assert op(lamella.ones(1)).item() == 3
    with op.set_kernel_enabled("cpu", False):
        assert op(lamella.ones(1)).item() == 5
    assert op(lamella.ones(1)).item() == 3


def test_a_schema_in_place_of_hints(ns, opened):
    op = opened(
        custom_op(f"{ns}::f", lambda x, by=2: x * by, mutates_args=(), schema="(Tensor x, Scalar by=2) -> Tensor")
    )
    assert op(lamella.ones(1)).item() == 2 and op(lamella.ones(1), 3).item() == 3
    with pytest.raises(ValueError, match=r"writes to \['x'\], mutates_args says \(\)"):
        custom_op(f"{ns}::g", lambda x: None, mutates_args=(), schema="(Tensor(a!) x) -> ()")
    with pytest.raises(ValueError, match="schema"):
        custom_op(f"{ns}::g", lambda x: None, mutates_args=(), schema="(Tensr x -> ()")
    with pytest.raises(ValueError, match="<lambda>.*'x' has no type hint"):
        custom_op(f"{ns}::g", lambda x: None, mutates_args=())


def test_a_schema_that_is_passed_has_no_name(ns):
    with pytest.raises(ValueError, match=r"f: argument 'schema': expected .* without a name.*got 'f\(Tensor x\)"):
        custom_op(f"{ns}::f", lambda x: x, mutates_args=(), schema="f(Tensor x) -> Tensor")


@pytest.mark.parametrize(
    "schema, mutates",
    [
        ("(Tensor(a! -> *)[] xs) -> ()", ["xs"]),
        ("(Tensor(a|b!) x, Tensor(c -> *) y, *, Tensor(d!)? z)->(Tensor(a) u, Tensor)", ["x", "z"]),
        ("( Tensor x, str s='(a!) t')-> Tensor", []),
        ("() -> Tensor", []),
    ],
)
def test_what_a_schema_that_is_passed_writes_to(ns, opened, schema, mutates):
    opened(custom_op(f"{ns}::f", lambda *args: None, mutates_args=mutates, schema=schema))
    with pytest.raises(ValueError, match=f"{ns}::g: the schema .* writes to .*, mutates_args says"):
        custom_op(f"{ns}::g", lambda *args: None, mutates_args=["other"], schema=schema)


def test_overloads_of_a_custom_op(ns, opened):
    one = opened(custom_op(f"{ns}::f.one", lambda x: x + 1, mutates_args=(), schema="(Tensor x) -> Tensor"))
    opened(custom_op(f"{ns}::f.two", lambda x, y: x + y, mutates_args=(), schema="(Tensor x, Tensor y) -> Tensor"))
    one.register_fake(lamella.empty_like)
    assert getattr(lamella.ops, ns).f(lamella.ones(1), lamella.ones(1)).item() == 2
    assert one(lamella.ones(2, device="meta")).shape == (2,)


def test_a_second_definition_names_both(ns, opened):
    def define(function):
        return custom_op(f"{ns}::f", function, mutates_args=())

    opened(define(numpy_sin))
    with pytest.raises(RuntimeError, match=rf"{ns}::f is already defined by .*test_custom_op.py:\d+; .*py:\d+ cannot"):
        define(numpy_sin)


def test_rules_for_layers_that_come_later(ns, opened):
    """Rules for autocast and vmap are stored and listed, and a layer of the test gets them."""
    op = opened(custom_op(f"{ns}::scale", lambda x, y: x * y, mutates_args=(), schema="(Tensor x, Tensor y) -> Tensor"))
    op.register_autocast("cpu", lamella.bfloat16)

    @op.register_vmap
    def batched(info, in_dims, x, y):
        return op(x, y.unsqueeze(-1)), in_dims[0]

    assert [r.layer for r in library.rules(op)] == ["autocast", "vmap"]
    [cast] = library.rules(f"{ns}::scale", "autocast")
    assert cast.payload == library.Autocast("cpu", lamella.bfloat16)

    lib, known = opened(Library(ns + "_layer", "FRAGMENT")), {}

    def hear(rule):
        known.setdefault(rule.op, []).append(rule.payload)  # a new rule arrives before the old one is withdrawn
        return lambda: known[rule.op].remove(rule.payload)

    def autocast(call, *args):
        [policy] = known.get(call.name) or [None]
        return call(*(a.to(policy.cast_inputs) for a in args)) if policy else call(*args)

    library.on_rule("autocast", hear, lib=lib)
    layer = lib.register_layer("casts", autocast, at="autocast")
    x = lamella.ones(2)
    assert op(x, x).dtype is lamella.float32
    with layer.on():
        assert op(x, x).dtype is lamella.bfloat16
    op.register_autocast("cpu", lamella.float64)
    with layer.on():
        assert op(x, x).dtype is lamella.float64
    [vmap] = library.rules(op, "vmap")
    out, dim = vmap.payload.func(None, (0, 0), lamella.ones(3, 2), lamella.tensor([1.0, 2.0, 3.0]))
    assert dim == 0 and out.tolist() == [[1, 1], [2, 2], [3, 3]]
    op.close()
    assert known == {f"{ns}::scale": []}


def test_what_it_keeps_goes_with_it(ns):
    class Keeps:
        def __call__(self, *args, **kwargs):
            return args[0].clone()

    objects = {name: Keeps() for name in ("kernel", "fake", "backward", "setup", "vmap")}
    watches = [weakref.ref(o) for o in objects.values()]
    op = custom_op(f"{ns}::f", objects["kernel"], mutates_args=(), schema="(Tensor x) -> Tensor")
    op.register_fake(objects["fake"])
    op.register_autograd(objects["backward"], setup_context=objects["setup"])
    op.register_vmap(objects["vmap"])
    op(lamella.ones(1))
    op.close()
    del op
    objects.clear()
    gc.collect()
    assert [w() for w in watches] == [None] * 5
