"""library.register_torch_dispatch, get_ctx and impl_abstract."""

import lamella
import pytest
from lamella import library
from lamella.utils._python_dispatch import TorchDispatchMode


def mode_class():
    class Plain(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    return Plain


def test_a_rule_for_a_mode():
    kind = mode_class()
    seen = []

    @library.register_torch_dispatch("aten::mul", kind)
    def rule(mode, func, types, args, kwargs):
        seen.append((type(mode), str(func.schemas[0]).partition("(")[0], args, kwargs))
        return func(*args, **kwargs) + 100

    x = lamella.tensor([2.0])
    with kind():
        assert (x * x).tolist() == [104.0] and (x * 3).tolist() == [106.0] and (x + 1).tolist() == [3.0]
    assert (x * x).tolist() == [4.0]
    assert [s[:2] for s in seen] == [(kind, "aten::mul.Tensor"), (kind, "aten::mul.Scalar")]
    with mode_class()():
        assert (x * x).tolist() == [4.0]  # another class


def test_a_rule_for_a_subclass_of_tensor():
    class Wrapped(lamella.Tensor):
        def __new__(cls, inner):
            made = lamella.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)
            made.inner = inner
            return made

        __torch_function__ = lamella._C._disabled_torch_function_impl

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return cls(func(*(a.inner if isinstance(a, cls) else a for a in args), **(kwargs or {})))

    library.register_torch_dispatch(lamella.ops.aten.neg, Wrapped, lambda cls, func, types, args, kwargs: (cls, "rule"))
    x = Wrapped(lamella.ones(2))
    assert (x + 1).inner.tolist() == [2.0, 2.0]
    with pytest.raises(TypeError):
        lamella.neg(x)  # the rule's result is no tensor
    library.register_torch_dispatch("aten::exp", Wrapped, lambda cls, func, types, args, kwargs: cls(args[0].inner * 5))
    assert lamella.exp(x).inner.tolist() == [5.0, 5.0]


def test_closing_the_library_ends_a_rule():
    kind, x = mode_class(), lamella.ones(1)
    lib = library.Library("ruled_by_test", "DEF")
    lib.define("one(Tensor self) -> Tensor")
    lib.impl("one", lambda x: x + 1, "cpu")
    library.register_torch_dispatch("aten::neg", kind, lambda *call: x * 9, lib=lib)
    library.register_torch_dispatch(lamella.ops.ruled_by_test.one.default, kind, lambda *call: x * 7, lib=lib)
    with kind():
        assert lamella.neg(x).item() == 9 and lamella.ops.ruled_by_test.one(x).item() == 7
    lib.close()
    with kind():
        assert lamella.neg(x).item() == -1
    library.register_torch_dispatch("aten::neg", kind, lambda *call: x * 3)  # the place is free again
    with kind():
        assert lamella.neg(x).item() == 3


def test_bad_rules():
    kind = mode_class()
    library.register_torch_dispatch("aten::neg", kind, lambda *call: None)
    with pytest.raises(RuntimeError, match="Plain already has a function for aten::neg"):
        library.register_torch_dispatch("aten::neg", kind, lambda *call: None)
    with pytest.raises(RuntimeError, match="there is no operator aten::no_such"):
        library.register_torch_dispatch("aten::no_such", kind, lambda *call: None)
    with pytest.raises(RuntimeError, match="has no __torch_dispatch__"):
        library.register_torch_dispatch("aten::neg", int, lambda *call: None)
    with pytest.raises(TypeError, match="'func'"):
        library.register_torch_dispatch("aten::exp", kind, 3)


def test_the_context_of_a_fake_kernel():
    lib = library.Library("fakes_of_test", "DEF")
    lib.define("some(Tensor self) -> Tensor")
    lib.define("same(Tensor self) -> Tensor")
    try:

        @library.impl_abstract("fakes_of_test::some", lib=lib)
        def some(x):
            size = library.get_ctx().new_dynamic_size(min=1)
            return x.new_empty(size)

        library.impl_abstract("fakes_of_test::same", lambda x: x.new_empty(x.shape), lib=lib)
        meta = lamella.empty(3, device="meta")
        assert lamella.ops.fakes_of_test.same(meta).shape == (3,)
        with pytest.raises(NotImplementedError, match="the shape of the operator's result depends on the data"):
            lamella.ops.fakes_of_test.some(meta)
        with pytest.raises(RuntimeError, match="no kernel that register_fake has registered runs"):
            library.get_ctx()
    finally:
        lib.close()
