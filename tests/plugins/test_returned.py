"""Results that a device's Python kernel may return, and the arguments of a category's kernel."""

import lamella
import pytest
from heaps import Heap


@pytest.fixture
def lib():
    library = lamella.library.Library("aten", "IMPL", "cpu", owner="the test")
    yield library
    library.close()


def raises(*words):
    return pytest.raises(RuntimeError, match=".*".join(words))


def test_a_tensor_of_another_device(lib):
    lib.impl("relu", lambda x: lamella.empty(2, device="meta"))
    with raises("relu: the Python kernel returned a tensor of device 'meta'", "the call is on 'cpu'"):
        lamella.relu(lamella.ones(2))


def elsewhere(x):
    return lamella.empty(2, device="meta")


@pytest.mark.parametrize(
    "schema, kernel",
    [
        ("(Tensor x) -> Tensor", elsewhere),
        ("(Tensor x) -> Tensor[]", lambda x: [x + 1, elsewhere(x)]),
        ("(Tensor x) -> Tensor?", elsewhere),
        ("(Tensor x) -> (Tensor, Tensor)", lambda x: (x + 1, elsewhere(x))),
        ("(Tensor[] x) -> Tensor", elsewhere),
        ("(int x, *, Device? device=None) -> Tensor", lambda x, device=None: elsewhere(x)),
    ],
)
@pytest.mark.parametrize("key", ["cpu", "backend"])
def test_a_tensor_of_another_device_without_a_shape_rule(schema, kernel, key):
    library = lamella.library.Library("moved", "DEF", owner="the test")
    library.define("away" + schema)
    library.impl("away", kernel, key)
    call = lamella.ops.moved.away
    with raises("moved::away: the Python kernel returned a tensor of device 'meta'", "the call is on 'cpu'"):
        if "Device" in schema:
            call(2, device="cpu")
        else:
            call([lamella.ones(2)] if "[] x" in schema else lamella.ones(2))
    library.close()


def test_a_custom_operator_of_another_device():
    @lamella.library.custom_op("moved::custom", mutates_args=())
    def custom(x: lamella.Tensor) -> lamella.Tensor:
        return lamella.empty(2, device="meta")

    custom.register_fake(lambda x: lamella.empty_like(x))
    with raises("moved::custom: the Python kernel returned a tensor of device 'meta'"):
        custom(lamella.ones(2))
    assert custom(lamella.ones(2, device="meta")).device.type == "meta"


def test_a_factory_chooses_its_device():
    """Neither a tensor nor `device` says where the result of this call belongs."""

    @lamella.library.custom_op("moved::made", mutates_args=())
    def made(n: int) -> lamella.Tensor:
        return lamella.empty(n, device="meta")

    assert made(2).device.type == "meta"


@pytest.mark.parametrize("kernel", [lambda x: x, lambda x: x.view(2), lambda x: x[0:2]], ids=["itself", "view", "part"])
def test_memory_of_its_argument(lib, kernel):
    lib.impl("relu", kernel)
    with raises("relu: the Python kernel returned memory of its argument 'self'", "clone"):
        lamella.relu(lamella.ones(2))


@pytest.mark.parametrize("key", ["cpu", "backend"])
def test_memory_of_its_argument_without_a_shape_rule(key):
    library = lamella.library.Library("returned", "DEF", owner="the test")
    library.define("same(Tensor self) -> Tensor")
    library.define("part(Tensor(a) self) -> Tensor(a)")
    library.impl("same", lambda x: x.view(-1), key)
    library.impl("part", lambda x: x[0:1], key)
    with raises("returned::same: the Python kernel returned memory of its argument 'self'", "clone"):
        lamella.ops.returned.same(lamella.ones(2))
    assert lamella.ops.returned.part(lamella.ones(2)).shape == (1,)
    library.close()


def test_in_place_it_may_return_what_it_got(lib):
    lib.impl("relu", lambda x: x)
    x = lamella.ones(2)
    assert x.relu_() is x and x.tolist() == [1, 1]


def test_a_composite_may_return_its_argument():
    library = lamella.library.Library("returned", "DEF", owner="the test")
    library.define("whole(Tensor self) -> Tensor")
    library.impl("whole", lambda x: x, "composite")
    x = lamella.ones(2)
    assert lamella.ops.returned.whole(x) is x
    library.close()


def test_a_category_s_kernel_is_told_which_operator_it_serves():
    seen = []

    def kernel(call, x):
        seen.append((call.name, call.overload, call.category, call.expressions["floating"]))
        with raises("sinh", "cannot redispatch, because no layer is below it"):
            call(x)
        return x.to("cpu").sinh().to("told")

    library = lamella.library.Library("aten", "IMPL", "told", owner="the test")
    library.register_backend("told", Heap())
    library.impl_category("pointwise", kernel)
    assert lamella.sinh(lamella.zeros(2).to("told")).to("cpu").tolist() == [0, 0]
    assert seen == [("aten::sinh", "", "pointwise", "sinh(x)")]
    library.close()


@pytest.mark.parametrize("key", ["CPU", "cpu"])
def test_a_key_in_capitals(key):
    library = lamella.library.Library("aten", "IMPL", owner="the test")
    library.impl("relu", lambda x: x + 2, key)
    assert lamella.relu(lamella.ones(1)).tolist() == [3]
    library.close()


@pytest.mark.parametrize("key", [" cpu", "cpu ", "c pu", "cpu:0", "1cpu", "AutogradCPU"])
def test_a_key_that_is_none(lib, key):
    with pytest.raises(ValueError, match="impl: argument 'dispatch_key': .*'"):
        lib.impl("relu", lambda x: x, key)
    with pytest.raises(ValueError, match="kernel: argument 'key': .*'"):
        lib._library.impl("aten::relu", key, lambda x: x, False, "", 0)


def test_what_waits_for_nothing_is_listed(lib):
    before = lamella.plugins.waiting()
    lib.impl("neg", lambda x: x, "nodevice")
    lib.impl_category("pointwise", lambda call, x: x, "nodevice")
    (kernel, category) = [w for w in lamella.plugins.waiting() if w not in before]
    assert str(kernel) == "a kernel of aten::neg waits for the key 'nodevice' (the test)"
    assert (category.what, category.awaited) == ("a kernel of category 'pointwise'", "nodevice")
    lib.impl("neg", lambda x: x, "float32")  # a plain dtype's key selects no kernel
    assert [w.awaited for w in lamella.plugins.waiting() if w not in before and w.what == kernel.what] == [
        "nodevice",
        "float32",
    ]
    found = lamella.library.opcheck("aten::neg", (lamella.ones(2),), test_utils="test_waiting", raise_exception=False)
    assert "waits for the key 'nodevice'" in found["test_waiting"]
