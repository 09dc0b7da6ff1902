"""Observers: what they get of a call, a step of backward and a block, what they request, and when they are called."""

import gc
import threading
import weakref

import lamella
import pytest
from lamella import profiler
from lamella.cli import show_operator
from observing import BACKWARD, FUNCTION, KERNEL, USER, callback, is_there, names, observed


def test_the_fields_of_a_call():
    told = []

    def enter(r):
        told.append(
            (r.name, r.overload_name, r.schema, r.scope, r.backend, r.layer, r.parent, r.thread_id, r.forward_thread_id)
        )
        return "a context"

    def leave(r, context):
        told.append((r.name, context))

    a = lamella.ones(2, 3)
    with observed(enter, leave):
        a + a
    schema = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    me = threading.get_native_id()
    assert told == [
        ("aten::add", "Tensor", schema, FUNCTION, "cpu", "profiler", None, me, 0),
        ("aten::add", "a context"),
    ]


def shown_owner(name):
    """Returns the owner that ``lamella ops show`` prints for the cpu, without the kind of kernel."""
    line, *_ = [t for t in show_operator(name, None).splitlines() if t.split()[:2] == ["device", "cpu"]]
    return line.split(maxsplit=2)[2].partition(" (")[0]


def test_the_owner_of_the_kernel():
    """The owner is that of ``lamella ops show``: of the backend's kernel, a composite, a kernel over the first."""
    told = []

    def leave(r, _):
        told.append((r.name, r.scope, r.backend, r.owner))

    x = lamella.ones(2, 2, requires_grad=True)
    with observed(leave=leave, scopes=(FUNCTION, KERNEL)):
        x.exp()
        lamella.zeros(1, device="meta")
        lamella.logspace(0, 1, 2)
    assert told[:4] == [
        ("aten::exp", KERNEL, "cpu", "cpu"),
        ("aten::exp", FUNCTION, "cpu", "cpu"),
        ("aten::zeros", KERNEL, "meta", "lamella"),
        ("aten::zeros", FUNCTION, "meta", "lamella"),
    ]
    assert "(composite)" in show_operator("aten::logspace", None)
    assert told[-1] == ("aten::logspace", FUNCTION, "cpu", shown_owner("aten::logspace"))


def test_the_owner_of_a_kernel_that_is_registered_over_another():
    told = []
    x = lamella.ones(2)
    mine = lamella.library.Library("aten", "IMPL")
    try:
        mine.impl("exp", lambda x: x.clone(), "cpu")
        over = shown_owner("aten::exp")
        with observed(lambda r: told.append((r.name, r.owner)), scopes=(FUNCTION,)):
            x.exp()
            mine.close()
            x.exp()
    finally:
        mine.close()
    assert told == [("aten::exp", over), ("aten::clone", "cpu"), ("aten::exp", "cpu")] and over not in ("cpu", "")


def test_blocks_and_steps_of_backward_have_no_owner():
    told = []
    x = lamella.ones(2, requires_grad=True)
    with observed(lambda r: told.append((r.scope, r.owner)), scopes=(USER, BACKWARD), needs="ids"):
        with profiler.record_function("block"):
            x.exp().sum().backward()
    assert told[0] == (USER, None) and set(told[1:]) == {(BACKWARD, None)}


def test_inputs_and_outputs_for_those_that_need_them():
    seen = {}

    def enter(r):
        seen["inputs"] = r.inputs
        with pytest.raises(
            RuntimeError, match=r"RecordFunction.outputs: the callback must be made with \.needs_outputs"
        ):
            r.outputs  # noqa: B018

    a, b = lamella.ones(2), lamella.tensor([3.0, 4.0])
    with observed(enter, needs="inputs"):
        lamella.add(a, b, alpha=2)
    x, y, alpha = seen["inputs"]
    assert x is a and y is b and alpha == 2

    with observed(leave=lambda r, _: seen.update(outputs=r.outputs), needs="outputs"):
        largest = lamella.max(b, 0)
    assert [int(o) for o in seen["outputs"]] == [int(largest.values), int(largest.indices)] == [4, 1]


def test_a_record_that_is_kept_has_its_name_and_numbers():
    kept = []
    with observed(kept.append, needs="inputs ids"):
        lamella.ones(2).exp()
    (ones, exp) = kept
    assert (ones.name, exp.name) == ("aten::ones", "aten::exp") and exp.handle == ones.handle + 1 > 1
    assert exp.schema.startswith("aten::exp(") and exp.backend == "cpu" and repr(exp) == "<RecordFunction aten::exp>"
    with pytest.raises(RuntimeError, match="only while the callback runs"):
        exp.inputs  # noqa: B018
    with pytest.raises(TypeError, match="made by the profiler alone"):
        type(exp)()


def test_ids_are_there_for_those_that_need_them():
    with_ids, without = [], []
    x = lamella.ones(2, requires_grad=True)
    with observed(leave=lambda r, _: without.append((r.handle, r.sequence_nr))):
        x.exp()
    with observed(leave=lambda r, _: with_ids.append((r.handle, r.sequence_nr)), needs="ids"):
        x.exp(), x.exp()
    assert without == [(0, 0)]
    (first, one), (second, two) = with_ids
    assert second == first + 1 and two == one + 1


def test_a_step_of_backward_has_the_number_of_its_call():
    calls, steps = {}, {}

    def leave(r, _):
        if r.scope == FUNCTION and r.sequence_nr:
            calls[r.sequence_nr] = r.name
        if r.scope == BACKWARD:
            steps[r.sequence_nr] = (r.name, r.schema, r.forward_thread_id)

    x = lamella.ones(2, requires_grad=True)
    with observed(leave=leave, needs="ids", scopes=(FUNCTION, BACKWARD)):
        x.exp().sin().sum().backward()
    me = threading.get_native_id()
    paired = {calls[n]: step for n, step in steps.items() if n in calls}
    assert {name: (node, thread) for name, (node, _, thread) in paired.items()} == {
        "aten::exp": ("ExpBackward0", me),
        "aten::sin": ("SinBackward0", me),
        "aten::sum": ("SumBackward0", me),
    }
    assert paired["aten::sin"][1].startswith("aten::sin(")
    assert any(name.endswith("AccumulateGrad") for name, *_ in steps.values())


def test_scopes():
    x = lamella.ones(2, requires_grad=True)

    def work():
        with profiler.record_function("block"):
            lamella.softmax(x * 2, 0).sum().backward()

    heard = {}
    for scope in FUNCTION, BACKWARD, USER, KERNEL:
        with names(scopes=(scope,)) as heard[scope]:
            work()
    assert heard[USER] == ["block"]
    assert "MulBackward0" in heard[BACKWARD] and not any(n.startswith("aten::") for n in heard[BACKWARD])
    assert heard[FUNCTION][:2] == ["aten::mul", "aten::softmax"]
    assert "aten::mul" in heard[KERNEL] and "MulBackward0" not in heard[KERNEL]
    by_default = []
    handle = profiler.add_global_callback(profiler.RecordFunctionCallback(lambda r: by_default.append(r.scope)))
    work()
    profiler.remove_callback(handle)
    assert set(by_default) == {FUNCTION, BACKWARD, USER}


def test_the_number_of_a_call_is_not_that_of_one_which_an_observer_makes():
    numbers = []
    x = lamella.ones(2, requires_grad=True)

    def enter(r):
        with lamella.enable_grad():
            return x.exp()

    with observed(enter, lambda r, y: numbers.append((r.name, r.sequence_nr)), needs="ids"):
        x.detach().exp()
    assert numbers == [("aten::detach", 0), ("aten::exp", 0)]


def test_a_kernel_is_seen_below_autograd():
    layers = []
    x = lamella.ones(2, requires_grad=True)
    with observed(lambda r: layers.append((r.name, r.layer)), scopes=(FUNCTION, KERNEL)):
        x.exp()
    assert layers == [("aten::exp", "profiler"), ("aten::exp", "profiler.kernels")]


def test_the_record_around_it():
    around = []
    with observed(lambda r: around.append((r.name, r.parent)), scopes=(FUNCTION, USER, KERNEL)):
        with profiler.record_function("outer"), profiler.record_function("inner"):
            lamella.zeros(2)
        lamella.zeros(2)
    assert around[:4] == [("outer", None), ("inner", "outer"), ("aten::zeros", "inner"), ("aten::zeros", "aten::zeros")]
    assert ("aten::zeros", None) in around[4:]


def test_several_observers_of_one_call():
    order = []
    with (
        observed(lambda r: order.append("first"), lambda r, c: order.append("first ends")),
        observed(lambda r: order.append("second"), lambda r, c: order.append("second ends")),
        observed(lambda r: order.append("own"), everywhere=False),
        observed(leave=lambda r, c: order.append(f"fourth ends {c}")),
    ):
        lamella.ones(1)
    assert order == ["first", "second", "own", "first ends", "second ends", "fourth ends None"]


def test_an_operator_that_fails_ends_its_record_and_keeps_its_error():
    told = []
    with observed(
        lambda r: "entered", lambda r, c: told.append((r.name, c, r.outputs, r.sequence_nr)), needs="outputs ids"
    ):
        with pytest.raises(RuntimeError, match="matmul|mm|size"):
            lamella.ones(2, 3, requires_grad=True) @ lamella.ones(2, 3)
    assert told[-1][0] in ("aten::matmul", "aten::mm") and told[-1][1:] == ("entered", [], 0)


def test_disabled_and_enabled_again():
    heard = []
    with observed(lambda r: heard.append(r.name)) as handle:
        profiler.disable_callback(handle)
        lamella.ones(1)
        profiler.disable_callback(handle)
        profiler.reenable_callback(handle)
        lamella.zeros(1)
    assert heard == ["aten::zeros"]


def test_switched_off_for_a_thread():
    other = []

    def work():
        lamella.zeros(1)
        other.append(threading.get_native_id())

    with names(scopes=(FUNCTION, USER)) as heard:
        with profiler.enable_record_function(False):
            lamella.ones(1)
            with profiler.record_function("hidden"):
                pass
            with profiler.enable_record_function(True):
                lamella.eye(1)
            thread = threading.Thread(target=work)
            thread.start()
            thread.join(60)
        lamella.full((1,), 2.0)
        profiler.enable_record_function(False)
        lamella.ones(1)
        profiler.enable_record_function()
    assert [n for n in heard if n in ("aten::eye", "aten::zeros", "aten::full", "aten::ones", "hidden")] == [
        "aten::eye",
        "aten::zeros",
        "aten::full",
    ]
    assert other


def test_what_is_removed_is_freed():
    class Seen:
        def __call__(self, *args):
            return self

    for everywhere in True, False:
        enter, leave = Seen(), Seen()
        dead = [weakref.ref(enter), weakref.ref(leave)]
        with observed(enter, leave, everywhere=everywhere, scopes=(FUNCTION, BACKWARD, USER, KERNEL)):
            lamella.ones(2, requires_grad=True).sum().backward()
        del enter, leave
        lamella.ones(1)
        gc.collect()
        assert [d() for d in dead] == [None, None]


def test_what_a_callback_returns_is_freed():
    class Context:
        pass

    dead = []

    def enter(r):
        made = Context()
        dead.append(weakref.ref(made))
        return made

    with observed(enter):
        lamella.ones(1)
    with observed(enter, lambda r, c: None):
        lamella.ones(1)
    assert [d() for d in dead] == [None, None]


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: profiler.RecordFunctionCallback(None), TypeError, "one of 'on_enter' and 'on_exit' must be given"),
        (
            lambda: profiler.RecordFunctionCallback(3),
            TypeError,
            "argument 'on_enter' must be callable or None, got int",
        ),
        (lambda: profiler.RecordFunctionCallback(print, "x"), TypeError, "argument 'on_exit' must be callable"),
        (lambda: callback(print).sampling_prob(0), ValueError, "above 0 and at most 1, got 0"),
        (lambda: callback(print).sampling_prob(1.5), ValueError, "above 0 and at most 1, got 1.5"),
        (lambda: callback(print).sampling_prob(float("nan")), ValueError, "above 0 and at most 1, got nan"),
        (lambda: callback(print).scopes([]), ValueError, "must name one scope at least"),
        (lambda: callback(print).scopes({"module"}), ValueError, "'module'.*function, backward_function, user_scope"),
        (lambda: callback(print).scopes([7]), ValueError, "no scope 7"),
        (lambda: profiler.add_global_callback(print), TypeError, "must be RecordFunctionCallback, got builtin"),
        (lambda: profiler.add_thread_local_callback(None), TypeError, "must be RecordFunctionCallback, got NoneType"),
        (lambda: profiler.remove_callback(10**15), ValueError, "no callback with handle 1000000000000000"),
        (lambda: profiler.disable_callback(10**15), ValueError, "disable_callback: there is no callback"),
        (lambda: profiler.reenable_callback(10**15), ValueError, "reenable_callback: there is no callback"),
        (lambda: profiler.remove_callback("x"), TypeError, "int"),
        (lambda: profiler.remove_callback(-1), OverflowError, "int"),
    ],
)
def test_bad_input(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_removed_twice():
    handle = profiler.add_global_callback(callback(print))
    profiler.remove_callback(handle)
    assert not is_there(handle)
    profiler.remove_callback(handle)


def test_removed_by_its_owner_after_it_removed_itself():
    """An owner need not know whether its observer failed or removed itself."""
    handles = []
    handles.append(profiler.add_global_callback(callback(lambda r: profiler.remove_callback(handles[0]))))
    lamella.ones(1)
    assert not is_there(handles[0])
    profiler.remove_callback(handles[0])
