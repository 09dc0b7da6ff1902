"""nan_guard names the operator that makes a NaN or an infinity, wherever an operator may be called."""

import inspect
import itertools
import math
import warnings

import lamella
import pytest
from heaps import Heap
from lamella.profiler import nan_guard
from threads import in_threads
from wrappers import Wrapped

NAN, INF = math.nan, math.inf


def raised(f, **settings):
    """Returns the lines of the error that f() raises inside a guard, or None."""
    with nan_guard(**settings):
        try:
            f()
        except RuntimeError as error:
            return str(error).splitlines()
    return None


def where(f):
    """Returns the name that an error has for the line after ``def f``."""
    return f"  called at {__file__}:{f.__code__.co_firstlineno + 1} in {f.__name__}"


def test_what_the_error_says():
    x = lamella.tensor([[1.0, -1.0, 0.0]])

    def f():
        x.log()

    assert raised(f) == [
        "aten::log: its result holds 1 NaN and 1 infinity among 3 elements, float32 (1, 3)",
        "  its inputs: self float32 (1, 3); no input had such a number",
        where(f),
    ]


def test_whether_an_input_had_it():
    x, bad = lamella.ones(2), lamella.tensor([NAN, 1.0])

    def f():
        lamella.add(x, bad)

    lines = raised(f)
    assert lines[0] == "aten::add: its result holds 1 NaN among 2 elements, float32 (2,)"
    assert lines[1] == "  its inputs: self float32 (2,), other float32 (2,); other had such numbers already"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_dtypes(dtype):
    one, zero = (f(2, dtype=getattr(lamella, dtype)) for f in (lamella.ones, lamella.zeros))
    lines = raised(lambda: one / zero)
    kind = "2 NaN" if dtype.startswith("complex") else "2 infinities"
    assert lines[0] == f"aten::div: its result holds {kind} among 2 elements, {dtype} (2,)"
    assert raised(lambda: zero / one) is None
    assert raised(lambda: one.int() * 3) is None


@pytest.mark.parametrize("kind", [NAN, INF, -INF])
def test_one_bad_element_anywhere(kind):
    base = lamella.zeros(4, 6)
    for i, j in itertools.product((0, 3), (0, 5)):
        bad = base.clone()
        bad[i, j] = kind
        for x in (bad, bad.t(), bad[:, ::5], bad[::3]):
            lines = raised(lambda x=x: x + 1)
            assert lines[0].startswith("aten::add: its result holds 1 "), lines


def test_what_lies_beside_a_strided_result_does_not_count():
    x = lamella.tensor([[1.0, NAN], [4.0, NAN]])
    assert raised(lambda: x[:, 0].sqrt()) is None
    assert raised(lambda: x[:, 0].sqrt_()) is None
    assert raised(lambda: lamella.sqrt(x[:, 0], out=x[:, 0])) is None
    assert raised(lambda: x[:, 1].sqrt())[0].startswith("aten::sqrt: its result holds 2 NaN")


def test_in_place_and_out():
    def in_place():
        lamella.tensor([1.0, -1.0]).sqrt_()

    assert raised(in_place)[1:] == ["  its inputs: self float32 (2,); no input had such a number", where(in_place)]
    bad = lamella.tensor([NAN, 1.0])
    assert "self had such numbers already" in raised(lambda: bad.add_(1))[1]
    out = lamella.tensor([NAN, NAN])
    lines = raised(lambda: lamella.sqrt(lamella.tensor([1.0, -1.0]), out=out))
    assert lines[0].startswith("aten::sqrt: its result holds 1 NaN") and "out" not in lines[1]
    assert raised(lambda: lamella.sqrt(lamella.tensor([1.0, 4.0]), out=out)) is None and out.tolist() == [1, 2]


def test_lists_of_tensors():
    some = [lamella.ones(2), lamella.tensor([-1.0]), lamella.ones(3, dtype=lamella.int64)]
    lines = raised(lambda: lamella._foreach_sqrt(some[:2]))
    assert "sqrt" in lines[0] and "1 NaN among 1 element, float32 (1,)" in lines[0]
    lines = raised(lambda: lamella._foreach_sqrt_(some[:2]))
    assert "sqrt" in lines[0] and "1 NaN among 1 element" in lines[0]
    bad = lamella.tensor([[1.0, NAN]])
    assert raised(lambda: lamella.cat([lamella.ones(1, 2), bad])) is None  # cat only moves elements
    lines = raised(lambda: lamella.cat([lamella.ones(1, 2), bad]), inputs=True)
    assert lines[0].startswith("aten::cat: its argument 'tensors[1]' holds 1 NaN among 2 elements")
    assert "tensors[1] had such numbers already" in lines[1]
    lines = raised(lambda: lamella.max(bad, dim=1))
    assert lines[0].startswith("aten::max: its result 0 holds 1 NaN among 1 element")


def test_empty_and_meta_and_unwritten_memory():
    assert raised(lambda: lamella.zeros(0) / lamella.zeros(0)) is None
    assert raised(lambda: lamella.ones(2, device="meta").log()) is None
    bad = lamella.full((1000,), NAN)
    del bad
    for f in (
        lambda: lamella.empty(1000),
        lambda: lamella.empty(1000)[::2].t(),
        lambda: lamella.empty_like(lamella.ones(1000)),
        lambda: lamella.ones(5).new_empty(1000),
        lambda: lamella.empty(1000).fill_(1),
        lambda: lamella.empty(1000).copy_(lamella.ones(1000)),
        lambda: lamella.empty(1000).normal_(),
        lambda: lamella.empty(1000).zero_().exp(),
    ):
        assert raised(f) is None
        assert raised(f, inputs=True) is None


def test_a_number_that_is_asked_for_is_meant():
    x = lamella.ones(3)
    mask = lamella.tensor([True, False, True])
    for f in (
        lambda: lamella.full((2,), INF),
        lambda: x.clone().fill_(NAN),
        lambda: x.masked_fill(mask, -INF),
        lambda: lamella.full((2,), complex(1, INF)),
        lambda: lamella.tensor([NAN, 1.0]),
        lambda: x.clamp(min=-INF),
    ):
        assert raised(f) is None


def test_a_copy_makes_no_such_number_but_a_narrower_dtype_may():
    bad = lamella.tensor([NAN, 1.0])
    assert raised(lambda: bad.clone().to(lamella.float64)) is None
    lines = raised(lambda: lamella.tensor([1e6, 1.0]).to(lamella.float16))
    assert "1 infinity among 2 elements, float16 (2,)" in lines[0] and "no input" in lines[1]


INDEX = lamella.tensor([0, 1])
BAD = lamella.tensor([1.0, INF])
MOVING = {
    "index": lambda: BAD[INDEX],
    "index_select": lambda: BAD.index_select(0, INDEX),
    "gather": lambda: BAD.gather(0, INDEX),
    "masked_select": lambda: BAD.masked_select(INDEX >= 0),
    "where": lambda: lamella.where(INDEX >= 0, BAD, lamella.zeros(2)),
    "sort": lambda: BAD.sort(),
    "topk": lambda: BAD.topk(1),
    "scatter": lambda: lamella.zeros(2).scatter(0, INDEX, BAD),
    "index_put_": lambda: lamella.zeros(2).index_put_((INDEX,), BAD),
    "masked_fill": lambda: BAD.masked_fill(INDEX < 1, 0.0),
    "flip": lambda: BAD.flip(0),
    "pad": lambda: lamella.nn.functional.pad(BAD, (1, 1)),
}


@pytest.mark.parametrize("move", MOVING.values(), ids=MOVING)
def test_operators_that_move_elements_make_no_such_number(move):
    assert raised(move) is None and "its argument" in raised(move, inputs=True)[0]


def test_sums_by_index_compute():
    for add in (
        lambda: lamella.zeros(2).index_add(0, INDEX, BAD),
        lambda: lamella.zeros(2).scatter_add(0, INDEX, BAD),
        lambda: lamella.zeros(2).scatter_reduce(0, INDEX, BAD, "sum"),
    ):
        lines = raised(add)
        assert "holds 1 infinity" in lines[0] and "had such numbers already" in lines[1]


def test_the_line_of_a_package_whose_name_begins_like_lamellas():
    file, space = f"{lamella.__path__[0]}_models/net.py", {"lamella": lamella}
    exec(compile("def step():\n    lamella.zeros(1).log()\n", file, "exec"), space)
    assert raised(space["step"])[-1] == f"  called at {file}:2 in step"


def test_inputs():
    bad = lamella.tensor([NAN, 1.0])
    assert raised(lambda: lamella.isnan(bad)) is None
    lines = raised(lambda: lamella.isnan(bad), inputs=True)
    assert "its argument 'self' holds 1 NaN among 2 elements" in lines[0]


def test_inside_composites_the_innermost_is_named():
    library = lamella.library.Library("guarded", "DEF", owner="test")
    library.define("roots(Tensor self) -> Tensor")
    library.impl("roots", lambda x: x.sub(2).sqrt().mul(0), "composite")
    try:
        lines = raised(lambda: lamella.ops.guarded.roots(lamella.ones(3)))
        assert lines[0].startswith("aten::sqrt: its result holds 3 NaN")
        assert raised(lambda: lamella.ops.guarded.roots(lamella.ones(3) * 3)) is None
    finally:
        library.close()


@pytest.mark.needs("autograd")
def test_in_backward():
    x = lamella.zeros(3, requires_grad=True)
    y = (x * x).sqrt().sum()  # sqrt(0) is finite, its derivative is not

    def f():
        y.backward()

    lines = raised(f)
    assert "among 3 elements, float32 (3,)" in lines[0] and lines[2] == where(f)
    assert x.grad is None


@pytest.mark.needs("autograd")
def test_in_backward_anomaly_mode_shows_the_call():
    x = lamella.zeros(3, requires_grad=True)
    with lamella.autograd.detect_anomaly(), nan_guard():
        y = x.sqrt()  # here
        line = inspect.currentframe().f_lineno - 1
        with pytest.raises(RuntimeError, match="among 3 elements") as failed:
            y.sum().backward()
    notes = "\n".join(failed.value.__notes__)
    assert "the gradient of SqrtBackward0" in notes and f'"{__file__}", line {line}' in notes


@pytest.mark.needs("autograd")
def test_a_function_of_python_in_backward():
    class Bad(lamella.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return (g - 1).log()

    x = lamella.ones(3, requires_grad=True)
    lines = raised(lambda: Bad.apply(x).sum().backward())
    assert lines[0].startswith("aten::log: its result holds 3 infinities")
    assert lines[2] == f"  called at {__file__}:{inspect.getsourcelines(Bad.backward)[1] + 2} in backward"


def test_warnings_name_the_line_and_the_work_goes_on():
    with warnings.catch_warnings(record=True) as caught, nan_guard(on="warn"):
        warnings.simplefilter("always")
        x = lamella.zeros(2).log()
        line = inspect.currentframe().f_lineno - 1
        y = lamella.ones(2) * 2
    assert x.tolist() == [-INF, -INF] and y.tolist() == [2, 2]
    assert [(w.category, w.filename, w.lineno) for w in caught] == [(RuntimeWarning, __file__, line)]
    assert str(caught[0].message).startswith("aten::log: its result holds 2 infinities")


def test_a_warning_is_of_the_innermost_alone():
    library = lamella.library.Library("guarded", "DEF", owner="test")
    library.define("roots(Tensor self) -> Tensor")
    library.impl("roots", lambda x: x.sqrt(), "composite")
    try:
        with warnings.catch_warnings(record=True) as caught, nan_guard(on="warn"):
            warnings.simplefilter("always")
            lamella.ops.guarded.roots(-lamella.ones(3))
        assert [str(w.message).partition(": ")[0] for w in caught] == ["aten::sqrt"]
    finally:
        library.close()


def test_ignore():
    x = lamella.zeros(2)
    for names in (["aten::log"], ["log"], "log", ["log_"]):
        assert raised(lambda: (x.log(), x.clone().log_()), ignore=names) is None
    assert raised(lambda: x.log(), ignore=["sqrt"]) is not None


def test_guards_inside_each_other_and_behind_an_error():
    x = lamella.zeros(2)
    with nan_guard():
        with nan_guard(ignore=["log"]):
            assert x.log().tolist() == [-INF, -INF]
        with pytest.raises(RuntimeError, match="aten::log"):
            x.log()
        with pytest.raises(KeyError), nan_guard(ignore=["log"]):
            raise KeyError
        with pytest.raises(RuntimeError, match="aten::log"):
            x.log()
    assert x.log().tolist() == [-INF, -INF]


def test_a_guard_is_of_its_thread_and_travels_with_the_state():
    found = {}

    def work(name, state=None):
        def run():
            try:
                found[name] = lamella.zeros(2).log().tolist()
            except RuntimeError as error:
                found[name] = str(error).partition(":")[0]

        if state is None:
            run()
        else:
            with state:
                run()

    with nan_guard():
        state = lamella.capture_state()
        in_threads(lambda: work("plain"), lambda: work("carried", state))
    assert found == {"plain": [-INF, -INF], "carried": "aten"}


def test_nothing_is_on_when_no_guard_is_open():
    before = lamella._C._thread_layers()
    with nan_guard():
        assert lamella._C._thread_layers() != before
        with pytest.raises(RuntimeError, match="aten::log"):
            lamella.zeros(1).log()
    assert lamella._C._thread_layers() == before


def test_opaque_tensors_are_passed_over():
    bad = Wrapped(lamella.zeros(2))
    lines = raised(lambda: bad.log())  # the guard checks the inner call, on the wrapped tensor
    assert lines[0].startswith("aten::log: its result holds 2 infinities among 2 elements")
    assert raised(lambda: bad * 3) is None
    with nan_guard():
        assert (Wrapped(lamella.ones(2)) * 3).inner.tolist() == [3, 3]


def test_a_device_in_python():
    library = lamella.library.register_backend("bare", Heap())
    try:
        x = lamella.zeros(3).to("bare")
        lines = raised(lambda: x.log())  # the innermost call is that on the host
        assert lines[0] == "aten::log: its result holds 3 infinities among 3 elements, float32 (3,)"
        assert raised(lambda: x.exp()) is None
    finally:
        library.close()


def test_devices_and_opaque_tensors_of_others(guest):
    guest.run("""
        import lamella, lamella_packed
        from lamella.profiler import nan_guard, record_memory_history

        x = lamella.zeros(3, device="bank:1")
        with nan_guard():
            assert x.exp().to("cpu").tolist() == [1, 1, 1]
            try:
                x.log()
            except RuntimeError as error:
                assert str(error).startswith("aten::log: its result holds 3 infinities among 3 elements"), error
                assert "float32 (3,) on bank:1" in str(error), error
            else:
                raise SystemExit("no error")
            packed = lamella.ones(2, 64).pack_int4()
            y = lamella.nn.functional.linear(lamella.ones(1, 64), packed)
            assert (y - 64).abs().max().item() < 1e-3
        with record_memory_history():
            big = lamella.empty(2**20, device="bank:1")
            try:
                lamella.empty(2**35, device="bank:1")
            except lamella.OutOfMemoryError as error:
                text = "\\n".join([str(error), *getattr(error, "__notes__", [])])
                assert "bank:1 " in text.partition("memory by device: ")[2], text
                made = "4194304 bytes: float32 (1048576,), made by aten::empty, at <string>:19 in <module>"
                assert made in text, text
            else:
                raise SystemExit("no error")
    """)


@pytest.mark.parametrize(
    "settings, message", [({"on": "print"}, "argument 'on' must be 'raise' or 'warn', got 'print'")]
)
def test_wrong_arguments(settings, message):
    with pytest.raises(ValueError, match=message):
        nan_guard(**settings)
