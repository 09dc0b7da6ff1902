"""Python operators that write: their writes are counted, so that a gradient that would be wrong is an error; and
derived forms, which write the results of a Python kernel."""

import threading

import lamella
import pytest
from lamella.library import Library, custom_op, register_layer


def fill(x):
    x.detach().numpy()[...] = 5


@custom_op("writes::fill_all", mutates_args={"xs"})
def fill_all(xs: list[lamella.Tensor]) -> None:
    for x in xs:
        fill(x)


@custom_op("writes::fill_and_fail", mutates_args={"x"})
def fill_and_fail(x: lamella.Tensor) -> None:
    fill(x)
    raise ValueError("after it has written")


def test_each_tensor_of_a_list_is_counted():
    xs = [lamella.ones(2) for _ in range(11)]  # the search for writes by inner calls covers fewer tensors
    xs.append(xs[0])
    fill_all(xs)
    assert all(x.tolist() == [5, 5] and x._version >= 1 for x in xs)
    assert xs[1]._version == 1


@pytest.mark.needs("autograd")
@pytest.mark.parametrize("views", [False, True])
def test_writes_of_a_composite_over_a_long_list_are_counted_once(views):
    """Inner calls count their writes, and the composite does not count them again, so histories stay valid."""
    lib = Library("composed", "DEF")
    lib.define("exps_(Tensor(a!)[] xs) -> ()")
    lib.impl("exps_", lambda xs: [x.exp_() for x in xs] and None, "composite")
    a = lamella.zeros(12, 2, requires_grad=True)
    whole = a * 1
    xs = list(whole) if views else [a[i] * 1 for i in range(12)]
    lamella.ops.composed.exps_(xs)
    assert [x._version for x in xs] == [12 if views else 1] * 12
    if not views:
        sum(x.sum() for x in xs).backward()
        assert a.grad.tolist() == [[1, 1]] * 12
    lib.close()


@custom_op("writes::both", mutates_args={"x"})
def both(x: lamella.Tensor, y: lamella.Tensor) -> lamella.Tensor:
    fill(x)
    return y * 3


@custom_op("writes::all_of", mutates_args={"xs"})
def all_of(xs: list[lamella.Tensor], y: lamella.Tensor) -> list[lamella.Tensor]:
    for x in xs:
        fill(x)
    return [y * 2, y * 3]


@pytest.mark.needs("autograd")
@pytest.mark.parametrize("written", [0, 1, 3])
def test_what_is_returned_beside_what_is_written_has_a_history(written):
    a, x = lamella.ones(2, requires_grad=True), lamella.zeros(2)
    xs = [lamella.zeros(2) for _ in range(written)]
    for made in ([both(x, a)], all_of(xs, a)):
        for r in made:
            assert r.requires_grad and not r.is_leaf
            with pytest.raises(NotImplementedError, match=r"writes::.* there is no derivative"):
                (r.sum() + a.sum()).backward()
    assert all(t.requires_grad and t.tolist() == [5, 5] for t in (x, *xs))
    assert a.grad is None
    with lamella.no_grad():
        assert not both(lamella.zeros(2), a).requires_grad


@pytest.mark.needs("autograd")
def test_tensors_of_a_list_that_is_written():
    a = lamella.ones(2, requires_grad=True)
    b, c = a * 1, lamella.zeros(2)
    fill_all([c, b])
    with pytest.raises(NotImplementedError, match="writes::fill_all: there is no derivative"):
        b.sum().backward()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        fill_all([c, a])
    assert a.tolist() == [1, 1] and c.requires_grad and a.grad is None


@pytest.mark.parametrize("how", ["list", "fails"])
def test_a_gradient_of_what_was_overwritten_is_an_error(how):
    c, recorded = lamella.ones(2) * 3, hasattr(lamella, "autograd")
    y = (lamella.ones(2, requires_grad=True) * c).sum() if recorded else None
    if how == "list":
        fill_all([c])
    else:
        with pytest.raises(ValueError, match="after it has written"):
            fill_and_fail(c)
    assert c._version == 1
    if recorded:
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


def test_what_is_refused_before_it_ran_is_not_counted():
    x = lamella.ones(2)
    with pytest.raises(RuntimeError):
        x.add_(lamella.ones(3))
    assert x._version == 0


@pytest.mark.parametrize("key", ["cpu", "backend", "composite"])
def test_a_kernel_that_fails_after_it_has_written(key):
    lib = Library("late", "DEF")
    lib.define("f(Tensor(a!) x) -> ()")
    lib.impl("f", lambda x: fill(x) or 1 // 0, key)
    x = lamella.ones(2)
    with pytest.raises(ZeroDivisionError):
        lamella.ops.late.f(x)
    assert x.tolist() == [5, 5] and x._version == 1
    lib.close()


@pytest.mark.parametrize("key", ["cpu", "backend", "composite"])
def test_derived_forms_of_an_operator_in_python(key):
    lib = Library("derived", "DEF")
    lib.define("f(Tensor x, int n=2) -> Tensor", inplace=True, out=True)
    lib.impl("f", lambda x, n=2: x * n, key)
    f, f_ = lamella.ops.derived.f, lamella.ops.derived.f_
    x, out = lamella.ones(2), lamella.empty(0)
    assert f_(x, 3) is x and x.tolist() == [3, 3] and x._version == 1
    assert f(x, out=out) is out and out.tolist() == [6, 6]
    lib.close()


def test_a_form_with_a_kernel_of_its_own():
    lib = Library("derived", "DEF")
    lib.define("f(Tensor x) -> Tensor", inplace=True)
    lib.impl("f_", lambda x: x.add_(1), "cpu")
    x = lamella.ones(2)
    assert lamella.ops.derived.f_(x) is x and x.tolist() == [2, 2]
    with pytest.raises(NotImplementedError, match="derived::f: no kernel for device 'cpu'"):
        lamella.ops.derived.f(x)
    lib.close()


def test_a_call_belongs_to_its_thread():
    said = []

    def handler(call, *args, **kwargs):
        def elsewhere():
            try:
                call(*args, **kwargs)
            except RuntimeError as error:
                said.append(str(error))

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        return call(*args, **kwargs)

    layer = register_layer("elsewhere", handler, at="profiler")
    with layer.on():
        assert (lamella.ones(2) + 1).tolist() == [2, 2]
    layer.remove()
    assert said and all("belongs to the thread that its handler runs on" in text for text in said)
