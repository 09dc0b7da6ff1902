"""Overriding from Python by torch's names: classes with __torch_function__, modes over it, and modes and wrapper
subclasses below autograd. numpy is the oracle of values."""

import copy
import gc
import pickle
import time
import weakref
from contextlib import ExitStack

import lamella
import numpy as np
import pytest
from lamella import _C, Tensor, overrides
from lamella.overrides import TorchFunctionMode
from lamella.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
    _get_current_dispatch_mode_stack,
)
from threads import in_threads
from wrappers import Wrapped


class Plain(Tensor):
    """A subclass without a __torch_function__ of its own."""


class Further(Plain):
    pass


class Off(Tensor):
    __torch_function__ = _C._disabled_torch_function_impl


class Metres(Tensor):
    """Carries a unit through arithmetic, and refuses to add different ones."""

    @staticmethod
    def of(data, unit):
        made = lamella.tensor(data).as_subclass(Metres)
        made.unit = unit
        return made

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        units = [getattr(a, "unit", None) for a in args if isinstance(a, Tensor)]
        if func in (lamella.add, lamella.sub) and len(set(units)) > 1:
            raise ValueError(f"{overrides.resolve_name(func)}: {' and '.join(map(str, units))}")
        result = super().__torch_function__(func, types, args, kwargs)
        if isinstance(result, cls):
            result.unit = "*".join(u for u in units if u) if func is lamella.mul else units[0]
        return result


class Diagonal:
    """Not a tensor: N x N with one value on the diagonal, as in numpy's guide to such containers."""

    handled = {}

    def __init__(self, n, value):
        self.n, self.value = n, value

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in cls.handled or not all(issubclass(t, (Tensor, Diagonal)) for t in types):
            return NotImplemented
        return cls.handled[func](*args, **(kwargs or {}))


Diagonal.handled[lamella.mean] = lambda d: d.value / d.n
Diagonal.handled[lamella.cat] = lambda ds, dim=0: [d.n for d in ds]


# ---- classes --------------------------------------------------------------------------------------------------------


def test_results_are_of_the_subclass():
    base = lamella.arange(6.0).reshape(2, 3)
    t = base.as_subclass(Plain)
    assert type(t) is Plain and t.data_ptr() == base.data_ptr()
    made = [t + 1, 1 + t, t.exp(), lamella.exp(t), t[0], t[:, 1], t[t > 2], t.T.sum(0), lamella.cat([base, t]), -t]
    made += [lamella.where(t > 1, base, t), *t.split(1), *t.max(0), lamella.matmul(base, t.t()), t == t, base + t]
    assert {type(m) for m in made} == {Plain}
    expected = base.numpy()
    np.testing.assert_array_equal((t + 1).numpy(), expected + 1)
    np.testing.assert_array_equal(t.max(0).indices.numpy(), expected.argmax(0))
    assert t.max(0).values.tolist() == expected.max(0).tolist()
    assert t.sum().item() == 15 and t.tolist() == expected.tolist() and t.shape == (2, 3)


def test_the_more_derived_class_wins():
    a, b = lamella.ones(1).as_subclass(Plain), lamella.ones(1).as_subclass(Further)
    assert {type(a + b), type(b + a), type(lamella.stack([a, b]))} == {Further}
    stranger = type("Stranger", (Tensor,), {})
    with pytest.raises(TypeError, match="^add: no implementation.*NotImplemented.*Plain.*Stranger"):
        lamella.add(a, lamella.ones(1).as_subclass(stranger))


def test_writes_go_to_the_object_that_is_there():
    t = lamella.zeros(3).as_subclass(Plain)
    same = t.add_(1)
    t[0] = 5
    t *= 2
    assert same is t and type(t) is Plain and t.tolist() == [10, 2, 2]
    out = lamella.empty(3)
    assert lamella.add(t, t, out=out).tolist() == out.tolist() == [20, 4, 4]


def test_a_class_may_be_as_plain_tensors():
    t = lamella.ones(2).as_subclass(Off)
    assert type(t) is Off and type(t + 1) is type(t[0]) is type(lamella.exp(t)) is Tensor
    assert type(t.add_(1)) is Off


def test_units():
    a, b = Metres.of([1.0, 2.0], "m"), Metres.of([3.0, 4.0], "s")
    assert (a + a).unit == "m" and (a * b).unit == "m*s" and (a * 3).tolist() == [3, 6] and a[0].unit == "m"
    with pytest.raises(ValueError, match=r"lamella\.add: m and s"):
        a + b
    with pytest.raises(ValueError, match="m and None"):
        a + lamella.ones(2)


def test_classes_that_are_no_tensors():
    d = Diagonal(5, 10)
    assert lamella.mean(d) == 2 and lamella.cat([d, Diagonal(2, 1)]) == [5, 2]
    assert lamella.cat([lamella.ones(1), d][1:], dim=0) == [5]
    for wrong in (lambda: lamella.exp(d), lambda: lamella.add(lamella.ones(1), d)):
        with pytest.raises(TypeError, match="^(exp|add): no implementation.*Diagonal"):
            wrong()
    with pytest.raises(TypeError, match="unsupported operand"):
        lamella.ones(1) * d


def test_as_subclass_and_its_faults():
    t = lamella.ones(2)
    assert type(t.as_subclass(Plain).as_subclass(Tensor)) is Tensor
    for wrong in (int, Diagonal, 3, None):
        with pytest.raises(TypeError, match="as_subclass: argument 'cls' must be a subclass of Tensor"):
            t.as_subclass(wrong)
    slotted = type("Slotted", (Tensor,), {"__slots__": ("more",)})
    made = t.as_subclass(slotted)
    made.more = 3
    assert (made.more, type(made + 1)) == (3, slotted) and not hasattr(made + 1, "more")


def test_the_arguments_of_a_handler():
    seen = []

    class Watched(Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((func, types, len(args), sorted(kwargs)))
            return super().__torch_function__(func, types, args, kwargs)

    t = lamella.ones(2, 2).as_subclass(Watched)
    lamella.sum(t, dim=0, keepdim=True), t.sum(0), t + 1, t[0]
    t[0] = 1
    k = (Watched,)
    assert seen[:3] == [(lamella.sum, k, 1, ["dim", "keepdim"]), (lamella.sum, k, 2, []), (lamella.add, k, 2, [])]
    assert [s[0] for s in seen[3:]] == [Tensor.__getitem__, Tensor.__setitem__]


def test_an_exception_is_the_handlers_own():
    class Bad(Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise LookupError("mine")

    t = lamella.ones(2).as_subclass(Bad)
    for call in (lambda: t + 1, lambda: t[0], lambda: lamella.cat([t])):
        with pytest.raises(LookupError, match="mine"):
            call()
    with _C.DisableTorchFunctionSubclass():
        assert (t + 1).tolist() == [2, 2] and type(t + 1) is Tensor
    with pytest.raises(LookupError):
        t + 1


def test_objects_are_copied_pickled_printed_and_freed():
    t = lamella.ones(2).as_subclass(Plain)
    t.note = [1]
    for u in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert type(u) is Plain and u.note == [1] and u.tolist() == [1, 1]
    assert repr(t) == "Plain([1., 1.])"
    u = t + 1
    gone = weakref.ref(u)
    del u
    gc.collect()
    assert gone() is None


# ---- modes over functions -------------------------------------------------------------------------------------------


class Log(TorchFunctionMode):
    def __init__(self, name="", log=None):
        self.name, self.log = name, [] if log is None else log

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.log.append(self.name + overrides.resolve_name(func))
        return func(*args, **(kwargs or {}))


def test_a_mode_sees_functions_methods_operators_and_factories():
    with Log() as mode:
        x = lamella.ones(2)
        x.add(1), x * 2, -x, x[0], lamella.sum(x, dim=0)
    names = "ones add mul neg Tensor.__getitem__ sum".split()
    assert mode.log == [f"lamella.{n}" for n in names]
    x + 1
    assert len(mode.log) == 6


def test_modes_in_each_other():
    log = []
    with Log("a ", log), Log("b ", log):
        lamella.exp(lamella.ones(1))
    assert log == ["b lamella.ones", "a lamella.ones", "b lamella.exp", "a lamella.exp"]


def test_a_mode_may_answer_itself_or_leave_it():
    class Zeros(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return lamella.zeros(1) if func is lamella.exp else NotImplemented

    with Zeros():
        assert lamella.exp(lamella.ones(1)).item() == 0 and lamella.neg(lamella.ones(1)).item() == -1
        assert type(lamella.ones(1).as_subclass(Plain) + 1) is Plain


def test_a_mode_is_left_whatever_happens():
    class Bad(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise LookupError("mine")

    for _ in range(3):
        with pytest.raises(LookupError, match="mine"), Log(), Bad():
            lamella.ones(1)
    assert lamella.ones(1).item() == 1 and _C._modes("function") == []
    with pytest.raises(RuntimeError, match="no mode is entered"):
        Log().__exit__()
    with pytest.raises(NotImplementedError, match="TorchFunctionMode must define"), TorchFunctionMode():
        lamella.ones(1)


def test_a_handler_that_enters_modes_and_does_not_leave():
    class Leaves(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            Log().__enter__()
            return func(*args, **(kwargs or {}))

    with Leaves() as mode:
        lamella.ones(1)
        assert _C._modes("function") == [mode]
    assert _C._modes("function") == []


def test_modes_are_of_one_thread():
    with Log() as mode:
        in_threads(lambda: lamella.ones(1) + 1)
    assert mode.log == []


def test_functions_of_ones_own():
    @overrides.wrap_torch_function(lambda x, by=1: (x,))
    def scaled(x, by=1):
        return x * by

    class Loud(Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__, kwargs

    assert scaled(lamella.ones(1), by=3).item() == 3
    assert scaled(lamella.ones(1).as_subclass(Loud), by=3) == ("scaled", {"by": 3})
    with Log() as mode:
        scaled(1)
    assert mode.log[0].endswith("scaled")
    assert overrides.is_tensor_like(Diagonal(1, 1)) and not overrides.is_tensor_like("x")
    assert lamella.add in overrides.get_overridable_functions()[lamella]
    assert overrides.is_tensor_method_or_property(Tensor.add) and not overrides.is_tensor_method_or_property(len)


# ---- below autograd -------------------------------------------------------------------------------------------------


class Calls(TorchDispatchMode):
    def __init__(self, name="", log=None):
        self.name, self.log = name, [] if log is None else log

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.log.append(f"{self.name}{func.__name__}")
        return func(*args, **(kwargs or {}))


def test_64_levels_use_one_bit():
    layers, log = {name for _, name, _ in _C._layers()} | {"torch_dispatch"}, []
    with ExitStack() as stack:
        for i in range(64):
            stack.enter_context(Calls(f"{i} ", log))
        assert len(_get_current_dispatch_mode_stack()) == 64
        y = lamella.ones(2) * 3
    expected = [f"{i} {op}" for op in ("ones.default", "mul.Scalar") for i in range(63, -1, -1)]
    assert y.tolist() == [3, 3] and log == expected
    assert {name for _, name, _ in _C._layers()} == layers and _get_current_dispatch_mode() is None
    include = _C._thread_layers()[0]
    for _ in range(10_000):
        with Calls():
            pass
    assert _C._thread_layers()[0] == include and {name for _, name, _ in _C._layers()} == layers


def test_arguments_come_as_they_are_written():
    seen = []

    class Keeps(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((func.__name__, types, [a for a in args if not isinstance(a, Tensor)], kwargs))
            return func(*args, **kwargs)

    x, out = lamella.ones(2, 2), lamella.empty(2)
    with Keeps():
        lamella.sum(x, dim=[0])
        lamella.add(x, x, alpha=2)
        x.add_(1)
        lamella.sum(x, dim=[0], out=out)
        lamella.zeros(2, dtype=lamella.int64)
    names = [s[0] for s in seen]
    assert names == ["sum.dim_IntList", "add.Tensor", "add_.Scalar", "sum.dim_IntList", "zeros.default"]
    assert seen[1][3] == {"alpha": 2} and seen[0][2] == [[0]] and all(s[1] == () for s in seen)
    assert x.tolist() == [[2, 2], [2, 2]] and out.tolist() == [4, 4]


def test_a_mode_answers_and_fails():
    class Sevens(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is lamella.ops.aten.exp.default:
                return lamella.full((2,), 7.0)
            if func is lamella.ops.aten.neg.default:
                raise LookupError("mine")
            return NotImplemented if func is lamella.ops.aten.sin.default else func(*args, **(kwargs or {}))

    with Sevens() as mode:
        assert lamella.exp(lamella.ones(2)).tolist() == [7, 7]
        with pytest.raises(LookupError, match="mine"):
            -lamella.ones(1)
        with pytest.raises(TypeError, match="sin.*no implementation"):
            lamella.sin(lamella.ones(1))
        with _disable_current_modes() as modes:
            assert modes == [mode] and (-lamella.ones(1)).item() == -1
        assert _get_current_dispatch_mode() is mode
    assert _get_current_dispatch_mode() is None


def test_what_a_handler_returns_is_checked():
    class Wrong(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return 3 if func is lamella.ops.aten.exp.default else func(*args, **(kwargs or {}))

    with Wrong(), pytest.raises(TypeError, match="exp.*layer 'torch_dispatch' must return Tensor, got int"):
        lamella.exp(lamella.ones(1))


def test_modes_do_not_follow_a_captured_state():
    """A captured state has the layer's bit but not the modes: a call on the other thread passes the layer."""
    found = []
    with Calls() as mode:
        state = lamella.capture_state()

        def work():
            with state:
                found.append((lamella.ones(1) + 1).item())

        in_threads(work)
    assert found == [2] and mode.log == []


def test_a_wrapper_has_a_shape_and_no_memory():
    inner = lamella.arange(6.0).reshape(2, 3)
    w = Wrapped(inner)
    assert type(w) is Wrapped and w.shape == (2, 3) and w.dtype is lamella.float32 and isinstance(w, Tensor)
    Wrapped.calls.clear()
    y = (w * 2 + w)[0].sum()
    assert type(y) is Wrapped and y.inner.item() == 9
    assert Wrapped.calls[:2] == ["mul.Scalar", "add.Tensor"] and Wrapped.calls[-1] == "sum.default"
    with pytest.raises((RuntimeError, TypeError, ValueError)):
        w.numpy()


def test_wrappers_in_wrappers_under_a_mode():
    twice = Wrapped(Wrapped(lamella.ones(2)))
    with Calls() as mode:
        y = twice + 1
    assert y.inner.inner.tolist() == [2, 2] and mode.log == ["add.Scalar"] * len(mode.log) and mode.log


def test_a_thread_may_end_in_a_mode():
    """The modes end with the thread, and calls of other threads are unchanged."""
    modes = [Log(), Calls()]
    watches = [weakref.ref(m) for m in modes]
    in_threads(lambda: [m.__enter__() for m in modes] and lamella.ones(1))
    modes.clear()
    for _ in range(100):  # the next thread with the lock drops references of ended threads
        gc.collect()
        time.sleep(0.01)  # a thread's last steps may follow its join
        if not any(w() for w in watches):
            break
    assert [w() for w in watches] == [None, None] and lamella.ones(1).item() == 1


# ---- defects that a review found ----------------------------------------------------------------------------------


def test_a_view_that_is_no_view_of_its_own():
    """A handler of `alias` may return a tensor that is in use elsewhere: that tensor is not changed."""
    kept = lamella.ones(2)

    class Keeps(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return kept if func is lamella.ops.aten.alias.default else func(*args, **(kwargs or {}))

    with Keeps(), pytest.raises(TypeError, match="as_subclass: the handler of 'alias' returned an existing"):
        lamella.zeros(2).as_subclass(Plain)
    assert kept.tolist() == [1, 1]


@pytest.mark.parametrize("wrong", [TorchDispatchMode, Plain, 3, int, Diagonal(1, 1)])
def test_wrappers_of_wrong_classes(wrong):
    with pytest.raises(TypeError, match="must be a subclass of Tensor that defines __torch_dispatch__"):
        Tensor._make_wrapper_subclass(wrong, (2,))
    with pytest.raises(TypeError, match="requires_gard"):
        Tensor._make_wrapper_subclass(Wrapped, (2,), requires_gard=True)


def test_a_handler_that_empties_its_arguments():
    class Empties(Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            args[0].clear()
            gc.collect()
            return NotImplemented

    other = type("Other", (Empties,), {"__torch_function__": classmethod(lambda *a: NotImplemented)})
    with pytest.raises(TypeError, match="cat: no implementation"):
        lamella.cat([lamella.ones(1).as_subclass(Empties), lamella.ones(1).as_subclass(other)])


def test_wrong_arguments_of_tensors_own_methods():
    t = lamella.ones(2)
    for method in (Tensor.__torch_function__, Tensor.__torch_dispatch__):
        for kwargs in (["alpha"], 3):
            with pytest.raises(TypeError, match="argument 'kwargs' must be a dict or None"):
                method(lamella.add, (), (t, t), kwargs)
        for args in ((lamella.add,), (lamella.add, 3), (lamella.add, (), 3)):
            with pytest.raises(TypeError):
                method(*args)
        assert method(lamella.add, (), (t, t), None).tolist() == [2, 2]


def test_a_mode_that_ends_in_an_operator():
    class Ends:
        def __del__(self):
            lamella.ones(1)

    class Leaves(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            left = Log()
            left.end = Ends()
            left.__enter__()
            return func(*args, **(kwargs or {}))

    with Leaves():
        lamella.ones(1)
    assert _C._modes("function") == []


def test_operators_of_python_ask_the_other_side():
    class Foreign:
        def __radd__(self, other):
            return "foreign"

        __rmul__ = __radd__

    for t in (lamella.ones(2).as_subclass(Plain), lamella.ones(2)):
        with Log():
            assert t + Foreign() == "foreign" and t * Foreign() == "foreign"
            assert (t == "x") is False and (t != None) is True  # noqa: E711
        assert t + Foreign() == "foreign" and (t == "x") is False
        with pytest.raises(TypeError, match="unsupported operand"):
            t + "x"


def test_subclasses_made_in_other_ways_are_asked():
    class Counted(Tensor):
        asked = 0

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            cls.asked += 1
            return super().__torch_dispatch__(func, types, args, kwargs)

    t = Counted(lamella.ones(2))
    for u in (t, copy.deepcopy(t), lamella.ones(2).as_subclass(Counted)):
        Counted.asked = 0
        assert (u + 1).tolist() == [2, 2] and Counted.asked > 0
    plain = lamella.zeros(2)
    _C._swap_tensors(t, plain)
    Counted.asked = 0
    assert (plain + 1).tolist() == [2, 2] and Counted.asked == 0
    assert t.exp().tolist() == [1, 1] and Counted.asked > 0


def test_several_outputs_and_writes_in_place():
    class Clones(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            return result.clone() if isinstance(result, Tensor) else result

    x = lamella.arange(6.0).reshape(2, 3)
    values, indices = lamella.empty(3), lamella.empty(3, dtype=lamella.int64)
    with Calls() as mode, Clones():
        lamella.max(x, 0, out=(values, indices))
        same, y = x.add_(1), x
        y += 1
        lamella.topk(x, 1, out=(lamella.empty(2, 1), lamella.empty(2, 1, dtype=lamella.int64)))
    assert values.tolist() == [3, 4, 5] and indices.tolist() == [1, 1, 1] and "max.dim" in mode.log
    assert same is x and y is x and x[0].tolist() == [2, 3, 4]


def test_a_value_that_is_assigned_is_asked_too():
    seen = []

    class Watched(Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs)

    t = lamella.zeros(2)
    t[0] = lamella.tensor(3.0).as_subclass(Watched)
    assert seen == [Tensor.__setitem__] and t.tolist() == [3, 0]


def test_lists_that_others_hold_are_left_alone():
    cached = [lamella.ones(1), lamella.ones(1)]
    held = (cached, (cached[0],))

    @overrides.wrap_torch_function(lambda x, which: iter((x,)))
    def parts(x, which):
        return held[which]

    x = lamella.ones(1).as_subclass(Plain)
    for which in (0, 1):
        assert {type(t) for t in parts(x, which)} == {Plain}
        assert {type(t) for t in held[which]} == {Tensor}


def test_an_exception_of_subclass_checks():
    class Meta(type(Tensor)):
        def __subclasscheck__(cls, other):
            raise ValueError("mine")

    odd = Meta("Odd", (Tensor,), {})
    with pytest.raises(ValueError, match="mine"):
        lamella.exp(lamella.ones(1).as_subclass(odd))


def test_types_are_those_of_the_relevant_arguments():
    found = []

    class Types(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            found.append(types)
            return func(*args, **(kwargs or {}))

    @overrides.wrap_torch_function(lambda d: d.values())
    def first(d):
        return next(iter(d.values()))

    named = {"a": lamella.ones(1).as_subclass(Off), "b": lamella.ones(1).as_subclass(Plain)}
    with Types():
        first(named)
    assert found == [(Plain,)]


def test_a_switch_is_left_on_another_thread():
    off = _C.DisableTorchFunctionSubclass()
    in_threads(lambda: off.__exit__(None, None, None))
    names = {}
    exec("from lamella.overrides import *", names)
    assert "TorchFunctionMode" in names
