"""Bad input to lamella.library: wrong types, kernels that misbehave; each raises an error that says what to do."""

import contextlib
import gc
import weakref

import lamella
import pytest
from heaps import Heap
from lamella import library
from lamella.library import Library, custom_op


@pytest.fixture
def lib(ns):
    made = Library(ns, "DEF", owner="the test")
    made.define("f(Tensor x) -> Tensor")
    yield made
    made.close()


@pytest.fixture
def f(lib):
    return getattr(lamella.ops, lib.ns).f


def backend(**other):
    """Returns a backend whose methods are never called, with the given ones in their place."""
    return type("Made", (lamella.library.Backend,), dict.fromkeys(backend_methods, staticmethod(len)) | other)()


backend_methods = ("alloc", "free", "copy_from_host", "copy_to_host")
STRANGE = [None, 3, 2.5, b"bytes", [], {}, object(), lamella]


@pytest.mark.parametrize("value", STRANGE, ids=lambda v: type(v).__name__)
def test_values_of_a_wrong_type(lib, ns, value):
    wrong = pytest.raises((TypeError, ValueError, RuntimeError), match=r"^\w+: (\S+: )?argument '[\w.]+'")
    for call in (
        lambda: Library(value, "DEF"),
        lambda: Library(ns + "x", value),
        lambda: Library(ns + "x", "FRAGMENT", value if value is not None else 3),
        lambda: lib.define(value),
        lambda: lib.impl(value, len, "cpu"),
        lambda: lib.impl("f", value, "cpu"),
        lambda: lib.impl("f", len, value or 3),
        lambda: lib.impl_category("pointwise", value, "cpu"),
        lambda: lib.register_autograd("f", value),
        lambda: lib.register_autograd("f", len, setup_context=3 if value is None else value),
        lambda: lib.rule(value, "autograd", None),
        lambda: lib.register_layer("watch", 3 if value is None else value),
        lambda: library.define(value, "(Tensor x) -> Tensor"),
        lambda: library.define(f"{ns}::g", value),
        lambda: library.register_kernel(value, "cpu", len),
        lambda: library.register_kernel(f"{ns}::f", 3 if value is None or value in ([], {}) else value, len),
        lambda: library.register_fake(f"{ns}::f", 3 if value is None else value),
        lambda: library.register_autocast(f"{ns}::f", "cpu", value),
        lambda: library.register_autocast(f"{ns}::f", value, lamella.float32),
        lambda: library.register_vmap(f"{ns}::f", 3 if value is None else value),
        lambda: library.get_kernel(value, "cpu"),
        lambda: library.get_kernel(f"{ns}::f", value),
        lambda: lib.disable_kernel(value, "cpu"),
        lambda: library.infer_schema(value, mutates_args=()),
        lambda: custom_op(value, len, mutates_args=()),
        lambda: custom_op(f"{ns}::g", 3 if value is None else value, mutates_args=()),
        lambda: custom_op(f"{ns}::g", len, mutates_args=(), schema=3 if value is None else value),
        lambda: library.opcheck(value, (lamella.ones(1),)),
        lambda: lib.define("g(Tensor x) -> Tensor", category=value),
        lambda: lib.define("g(Tensor x) -> Tensor", doc=value),
        lambda: lib.define("g(Tensor x) -> Tensor", 3 if value is None else value),
        lambda: lib.impl_category(value, len, "cpu"),
        lambda: lib.withdraw("a" if value == 3 else value),
        lambda: lib.register_layer(value, len),
        lambda: lib.register_layer("watch", len, at=value),
        lambda: lib.register_layer("watch", len, inside=[3] if value in ([], {}) else value),
        lambda: lib.register_layer("watch", len, outside=[value]),
        lambda: lib.register_keyword(value, len),
        lambda: lib.register_keyword("watched", value),
        lambda: lib.rule("f", value, None),
        lambda: lib.register_backend(value, backend()),
        lambda: lib.register_backend("watched", backend(synchronize=3 if value is None else value)),
        lambda: lib.register_backend("watched", backend(device_count="2" if value == 3 else value)),
        lambda: library.on_rule(value, len),
        lambda: library.on_rule("watch", value),
        lambda: library.on_rule("watch", len, lib=3 if value is None else value),
        lambda: lib.disable_kernel(f"{ns}::f", 3 if value is None else value),
        lambda: custom_op(f"{ns}::g", len, mutates_args=3 if value in ([], {}, b"bytes") else value),
        lambda: library.infer_schema(len, mutates_args=3 if value in ([], {}, b"bytes") else value),
        lambda: library.opcheck(f"{ns}::f", (lamella.ones(1),), 3 if value in (None, {}) else value),
        lambda: library.kernels_disabled(["aten::sqrt", value], "cpu").__enter__(),
        lambda: library.kernels_disabled(3 if value in ([], {}, b"bytes") else value, "cpu").__enter__(),
        lambda: library.rules(value),
    ):
        with wrong:
            call()


@pytest.mark.parametrize("name", ["f", "::f", "a::", "a b::f", "a::b::c", "a::f.", "1a::f", "a::f(x)", ""])
def test_names_that_are_none(name):
    with pytest.raises(ValueError, match="argument 'name': expected a namespace and a name, as 'mine::twice', got"):
        custom_op(name, lambda x: x, mutates_args=(), schema="(Tensor x) -> Tensor")


@pytest.mark.parametrize("ns", ["", "a b", "a::b", "1a", "ä", "a.b"])
def test_namespaces_that_are_none(ns):
    with pytest.raises(ValueError, match="argument 'ns' must be an identifier"):
        Library(ns, "DEF")


def test_kinds_that_are_none():
    with pytest.raises(ValueError, match="expected 'DEF', 'IMPL' or 'FRAGMENT', got 'DEFINE'"):
        Library("x", "DEFINE")


KEYS = [
    ("cpu:0", "expected the name of a type of device, got 'cpu:0'; a kernel serves every device of its type: 'cpu'"),
    ("Autograd", "'Autograd' is a key of torch .*register_autograd"),
    ("AutogradCPU", "'AutogradCPU' is a key of torch .*register_autograd"),
    ("AutocastCPU", "'AutocastCPU' is a key of torch .*register_autocast"),
    ("FuncTorchBatched", "'FuncTorchBatched' is a key of torch .*register_vmap"),
    ("PrivateUse1", "'PrivateUse1' is a key of torch .*a backend has the name"),
    ("BackendSelect", "'BackendSelect' is a key of torch .*'backend' or 'composite'"),
    ("SparseCPU", "'SparseCPU' is a key of torch"),
]


@pytest.mark.parametrize("key, message", KEYS)
def test_keys_that_nothing_has(lib, ns, key, message):
    for what, call in [
        ("dispatch_key", lambda: lib.impl("f", len, key)),
        ("dispatch_key", lambda: lib.impl_category("pointwise", len, key)),
        ("dispatch_key", lambda: Library(ns, "IMPL", key)),
        ("types", lambda: library.impl(f"{ns}::f", key, len, lib=lib)),
        ("device_types", lambda: library.register_kernel(f"{ns}::f", ["cpu", key], len, lib=lib)),
        ("device_types", lambda: custom_op(f"{ns}::g", len, mutates_args=(), device_types=key)),
        ("device_type", lambda: library.register_autocast(f"{ns}::f", key, lamella.float32, lib=lib)),
        ("key", lambda: library.get_kernel(f"{ns}::f", key)),
        ("dispatch_key", lambda: lib.disable_kernel(f"{ns}::f", key)),
        ("name", lambda: lib.register_layer(key, len)),
    ]:
        with pytest.raises(ValueError, match=f"argument '{what}': {message}"):
            call()
    assert lamella._C._describe(f"{ns}::f")["kernels"] == []


def test_a_layer_has_a_name_that_keys_can_have(lib):
    with pytest.raises(ValueError, match="argument 'name': a key 'GPU' is read as 'gpu'; take another name"):
        lib.register_layer("GPU", len)


def test_names_given_as_one(lib, f):
    """A str that is passed as a sequence of names counts as one name."""
    seen = []
    layer = lib.register_layer("watch", lambda call, *a: seen.append(call.name) or call(*a), outside="autograd")
    with layer.on():
        lamella.ones(1)
    assert seen == ["aten::ones"]
    with library.kernels_disabled("aten::sqrt", "CPU"), library.kernels_disabled(f, "cpu"):
        assert [lamella._C._describe(n)["disabled"] for n in ("aten::sqrt", f"{lib.ns}::f")] == [["cpu"]] * 2
    assert [lamella._C._describe(n)["disabled"] for n in ("aten::sqrt", f"{lib.ns}::f")] == [[]] * 2


def test_a_library_withdraws_its_own(lib, f, ns):
    other = Library(ns, "FRAGMENT", owner="another")
    handles = [lib.impl("f", lambda x: x + 1), lib.register_backend(f"{ns}_device", Heap())]
    for handle in (*handles, 0, -1):
        with pytest.raises(ValueError, match=f"'handle': {handle} is no live registration of <Library {ns} .*another>"):
            other.withdraw(handle)
    assert f(lamella.zeros(1)).item() == 1 and lamella.empty(0, device=f"{ns}_device").device.type == f"{ns}_device"
    for handle in handles:
        lib.withdraw(handle)
    with pytest.raises(RuntimeError, match=f"{ns}_device"):
        lamella.empty(0, device=f"{ns}_device")
    other.close()


@pytest.mark.parametrize("name", ["cpu", "backend", "composite", "default"])
def test_a_backend_that_is_refused_keeps_nothing(lib, name):
    def alloc(nbytes, index):
        raise AssertionError

    with pytest.raises(
        (RuntimeError, ValueError), match="'cpu' is taken|cannot be its name: as a key of kernels it means"
    ):
        lib.register_backend(name, backend(alloc=alloc))
    alloc = weakref.ref(alloc)
    gc.collect()
    assert alloc() is None


@pytest.mark.parametrize("name", ["dtype", "device", "layout", "pin_memory"])
def test_a_keyword_that_is_taken(lib, name):
    with pytest.raises(ValueError, match=f"register_keyword: argument 'name': '{name}' is an argument already"):
        lib.register_keyword(name, len)


@pytest.mark.parametrize("enabled", [False, True])
def test_an_operator_that_goes_while_its_kernel_is_passed_over(ns, enabled):
    """Leaving the block raises only the block's own exception, if there is one."""
    for failing in (False, True):
        op = custom_op(f"{ns}::g", lambda x: x, mutates_args=(), schema="(Tensor x) -> Tensor")
        op._library.disable_kernel(op, "cpu")
        with pytest.raises(KeyError, match="of the block") if failing else contextlib.nullcontext():
            with op.set_kernel_enabled("cpu", enabled), library.kernels_disabled([op, "aten::sqrt"], "cpu"):
                op.close()
                if failing:
                    raise KeyError("of the block")
        assert lamella._C._describe("aten::sqrt")["disabled"] == []


@pytest.mark.parametrize("who", ["register_kernel", "impl", "register_fake", "register_autograd", "register_vmap"])
def test_the_function_that_was_called_is_named(who):
    register = getattr(library, who)
    given = ("cpu", len) if who in ("register_kernel", "impl") else (len,)
    what = "qualname" if who == "impl" else "op"
    with pytest.raises(ValueError, match=f"^{who}: argument '{what}': expected a name with its namespace, as '"):
        register("a", *given)
    with pytest.raises(TypeError, match=f"^{who}: argument '{what}': expected an operator or its name, .* got int"):
        register(3, *given)


def generator(x):
    yield x


async def coroutine(x):
    return x


async def async_generator(x):
    yield x


@pytest.mark.parametrize("kernel", [generator, coroutine, async_generator])
def test_functions_that_only_begin(lib, ns, kernel):
    kind = "a generator function" if kernel is generator else "an async function"
    for call in (
        lambda: lib.impl("f", kernel, "cpu"),
        lambda: lib.register_autograd("f", kernel),
        lambda: library.register_fake(f"{ns}::f", kernel),
        lambda: custom_op(f"{ns}::g", kernel, mutates_args=(), schema="(Tensor x) -> Tensor"),
    ):
        with pytest.raises(TypeError, match=f"{kernel.__name__} is {kind}; expected one that returns"):
            call()


RESULTS = [
    ("Tensor", None, "must return Tensor, got None"),
    ("Tensor", 1.0, "must return Tensor, got float"),
    ("Tensor", (1, 2), "must return Tensor, got tuple"),
    ("(Tensor, Tensor)", lamella.ones(1), "must return a tuple of 2, got lamella.Tensor"),
    ("(Tensor, Tensor)", (lamella.ones(1),), "must return a tuple of 2, got 1"),
    ("(Tensor, Tensor)", (lamella.ones(1), "x"), "must return Tensor, got str"),
    ("Tensor[]", lamella.ones(1), "must return list of Tensor, got lamella.Tensor"),
    ("Tensor[]", [1, 2], "must return list of Tensor, got list of int"),
    ("int", "x", "must return int, got str"),
    ("bool", 2.5, "must return bool, got float"),
]


@pytest.mark.parametrize("declared, returned, text", RESULTS)
def test_results_of_a_wrong_type(ns, declared, returned, text):
    op = custom_op(f"{ns}::g", lambda x: returned, mutates_args=(), schema=f"(Tensor x) -> {declared}")
    try:
        with pytest.raises(TypeError, match=rf"{ns}::g: the Python kernel {text}"):
            op(lamella.ones(1))
    finally:
        op.close()


def test_a_kernel_that_registers_while_it_runs(lib, f):
    def kernel(x):
        lib.define("g(Tensor x) -> Tensor")
        lib.impl("g", lambda x: x * 10, "cpu")
        lib.impl("f", lambda x: x * 2, "cpu")
        return getattr(lamella.ops, lib.ns).g(x)

    lib.impl("f", kernel, "cpu")
    assert f(lamella.ones(1)).item() == 10 and f(lamella.ones(1)).item() == 2


def test_a_kernel_that_closes_its_own_library(ns):
    lib = Library(ns, "DEF")
    lib.define("f(Tensor x) -> Tensor")

    def kernel(x):
        lib.close()
        return x + 1

    lib.impl("f", kernel, "cpu")
    f = getattr(lamella.ops, ns).f
    assert f(lamella.ones(1)).item() == 2
    with pytest.raises((RuntimeError, AttributeError), match=f"{ns}::f"):
        f(lamella.ones(1))


def test_a_definition_that_closes_itself(ns):
    @custom_op(f"{ns}::f", mutates_args=())
    def op(x: lamella.Tensor) -> lamella.Tensor:
        op.close()
        return x + 1

    assert op(lamella.ones(1)).item() == 2


def test_a_kernel_that_calls_its_own_operator(lib, f):
    lib.impl("f", lambda x: f(x), "cpu")
    with pytest.raises(RecursionError):
        f(lamella.ones(1))
    lib.impl("f", lambda x: x.clone() if x.item() > 100 else f(x * 3), "cpu")
    assert f(lamella.ones(1)).item() == 243


def test_registering_on_what_is_closed(ns):
    op = custom_op(f"{ns}::f", lambda x: x, mutates_args=(), schema="(Tensor x) -> Tensor")
    op.close()
    op.close()
    for call in (
        lambda: op.register_fake(lamella.empty_like),
        lambda: op.register_kernel("cpu", lamella.empty_like),
        lambda: op.register_autograd(lambda ctx, grad: grad),
    ):
        with pytest.raises(RuntimeError, match=f"{ns}::f|closed"):
            call()


def test_a_closed_library(lib, ns):
    lib.close()
    for call in (
        lambda: lib.define("g(Tensor x) -> Tensor"),
        lambda: lib.impl("f", len, "cpu"),
        lambda: lib.register_layer("watch", len),
        lambda: lib.impl_category("pointwise", len, "cpu"),
    ):
        with pytest.raises(RuntimeError, match=f"library '{ns}' of the test is closed"):
            call()


def test_only_a_layer_is_fallen_through(lib):
    for key in ("cpu", "composite", "backend"):
        with pytest.raises(ValueError, match=f"the kernel for '{key}' is null; only the kernel of a layer may be null"):
            lib.impl("f", library.fallthrough_kernel, key)


def test_exceptions_of_a_kernel_arrive(lib, f):
    class Own(Exception):
        pass

    own = Own("mine")

    def kernel(x):
        raise own

    lib.impl("f", kernel, "cpu")
    with pytest.raises(Own) as caught:
        f(lamella.ones(1))
    assert caught.value is own


# ---- get_kernel ------------------------------------------------------------------------------------------------------


def test_a_kernel_alone(lib, f, ns):
    seen = []
    lib.impl("f", lambda x: x + 1, "cpu")
    kernel = library.get_kernel(f, "cpu")
    layer = lib.register_layer("watch", lambda call, *a, **k: seen.append(call.name) or call(*a, **k))
    lib.impl("f", lambda x: kernel(x) * 10, "CPU")
    with layer.on():
        assert kernel(lamella.ones(1)).item() == 2 and f"{ns}::f" not in seen
        assert f(lamella.ones(1)).item() == 20 and seen.count(f"{ns}::f") == 1
    assert repr(kernel) == f"<kernel of {ns}::f for 'cpu'>"
    with pytest.raises(TypeError, match=f"{ns}::f"):
        kernel(1, 2)
    with pytest.raises(NotImplementedError, match="no kernel for device 'meta'"):
        kernel(lamella.ones(1, device="meta"))
    with pytest.raises(NotImplementedError, match=f"{ns}::f has no kernel for 'composite'"):
        library.get_kernel(f, "composite")


def test_a_kernel_that_was_withdrawn(lib, f):
    handle = lib.impl("f", lambda x: x + 1, "cpu")
    kernel = library.get_kernel(f, "cpu")
    lib.withdraw(handle)
    with pytest.raises(RuntimeError, match="f: the kernel that find_kernel returned was withdrawn"):
        kernel(lamella.ones(1))


def test_kernels_of_the_catalogue():
    x = lamella.tensor([1.0, 4.0])
    assert library.get_kernel("aten::sqrt", "cpu")(x).tolist() == [1, 2]
    assert library.get_kernel("aten::add.Tensor", "cpu")(x, other=x, alpha=2).tolist() == [3, 12]
    assert library.get_kernel("aten::silu", "composite")(x).shape == (2,) if has_composite("aten::silu") else True
    assert library.get_kernel("aten::sqrt", "meta")(x.to("meta")).device.type == "meta"


def has_composite(name):
    return any(key == "composite" for key, _ in lamella._C._describe(name)["kernels"])


@pytest.mark.needs("autograd")
def test_a_layers_kernel():
    x = lamella.tensor([1.0, 4.0], requires_grad=True)
    y = library.get_kernel("aten::sqrt", "autograd")(x)
    y.sum().backward()
    assert x.grad.tolist() == [0.5, 0.25]
    assert not library.get_kernel("aten::sqrt", "cpu")(x).requires_grad


def test_fallthrough_is_not_called():
    with pytest.raises(NotImplementedError, match="passed to Library.impl"):
        library.fallthrough_kernel()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ("int n=1.5", "the default 1.5 of argument 'n' is no int"),
        ("str s=1", "the default 1 of argument 's' is no str"),
        ("Tensor x=3", "the default 3 of argument 'x' is no Tensor"),
        ("int n=[1]", r"the default \[1\] of argument 'n' is no int"),
        ("int[] n=1", r"the default 1 of argument 'n' is no int\[\]"),
        ("int[] n=[1, 0.5]", r"expected elements of int\[\] at column"),
        ("int n=99999999999999999999", "expected a decimal integer of 64 bits at column"),
        ("int n=0x10", "expected a decimal integer of 64 bits at column"),
        ("int[70] n", r"expected a size up to 64"),
        ("Device d='nowhere'", "expected a registered device, not 'nowhere'"),
        ("bool[] b=[1]", r"the default \[1\] of argument 'b' is no bool\[\]"),
        ("Tensor[][] x", r"there are no values for the type Tensor\[\]\[\] of argument 0"),
        (", ".join(f"int n{i}" for i in range(65)), "has 65 arguments, at most 64 are supported"),
    ],
)
def test_a_schema_whose_values_cannot_be_leaves_what_was_there(ns, arguments, message):
    lib = Library(ns, "DEF")

    def cell(schema):
        exec(compile("lib.define(schema)", "<a cell>", "exec"), {"lib": lib, "schema": schema})

    cell("g(int n) -> Tensor")
    with pytest.raises((ValueError, NotImplementedError), match=message):
        cell(f"g({arguments}) -> Tensor")
    assert [op["schema"] for op in lamella._C._operators() if op["name"] == f"{ns}::g"] == [f"{ns}::g(int n) -> Tensor"]
    lib.close()


def test_lists_of_numbers_by_default(lib, ns):
    seen = []
    lib.define("numbers(float[] a=[1, 2.5], float[2] b=3, bool[] c=[]) -> ()")
    lib.impl("numbers", lambda a=None, b=None, c=None: seen.append((a, b, c)))
    getattr(lamella.ops, ns).numbers()
    getattr(lamella.ops, ns).numbers([0.5])
    getattr(lamella.ops, ns).numbers(b=[1.0, 2.0])
    assert seen == [(None, None, None), ([0.5], None, None), ([1.0, 2.5], [1.0, 2.0], None)]


def test_a_kernel_that_returns_too_few(lib, ns):
    lib.define("pair(Tensor x) -> (Tensor, Tensor)")
    for few in (lambda x: (x.clone(),), lambda x: [x.clone()]):
        lib.impl("pair", few)
        with pytest.raises(TypeError, match=r"pair: the Python kernel must return a tuple of 2, got 1$"):
            getattr(lamella.ops, ns).pair(lamella.ones(1))
    lib.impl("pair", lambda x: [x.clone(), x + 1])  # a list instead of a tuple is accepted
    assert [r.item() for r in getattr(lamella.ops, ns).pair(lamella.ones(1))] == [1, 2]


def test_a_list_of_several_kinds_is_named_by_all_of_them(lib, ns):
    lib.define("all(Tensor[] x) -> Tensor[]")
    lib.impl("all", lambda x: [*x, None])
    with pytest.raises(TypeError, match=r"argument 'x' must be list of Tensor, got list of lamella.Tensor and None"):
        getattr(lamella.ops, ns).all([lamella.ones(1), None])
    with pytest.raises(TypeError, match=r"kernel must return list of Tensor, got list of lamella.Tensor and None"):
        getattr(lamella.ops, ns).all([lamella.ones(1)])


def test_a_handler_of_a_layer_that_returns_nonsense(lib, ns):
    layer = lib.register_layer("nonsense", lambda call, *args: "nonsense")
    message = "ones: the handler of layer 'nonsense' must return Tensor, got str"
    with layer.on(), pytest.raises(TypeError, match=message):
        lamella.ones(1)
    layer.remove()


def test_an_operator_defined_anew_has_its_kernels(ns):
    for _ in range(2):
        lib = Library(ns, "DEF")
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x + 1, "cpu")
        assert getattr(lamella.ops, ns).f(lamella.zeros(1)).item() == 1
        lib.disable_kernel("f", "cpu")
        with pytest.raises(NotImplementedError, match="disabled"):
            getattr(lamella.ops, ns).f(lamella.zeros(1))
        lib.close()


@pytest.mark.parametrize(
    "schema",
    [
        "(int x) -> Tensor",
        "() -> Tensor",
        "(Tensor? x) -> Tensor",
        "(Tensor[] x) -> Tensor",
        "(Tensor x) -> (Tensor, Tensor)",
        "(Tensor x) -> int",
        "(Tensor x) -> Tensor[]",
        "(Tensor x) -> ()",
    ],
)
def test_forms_that_cannot_be(lib, ns, schema):
    with pytest.raises(ValueError, match=f"define: an in-place form needs a Tensor as first .* result: {ns}::g"):
        lib.define("g" + schema, inplace=True)
    if not schema.endswith("Tensor") and "Tensor, Tensor" not in schema:
        with pytest.raises(ValueError, match=f"define: an out= form needs results that are all .* Tensor: {ns}::g"):
            lib.define("g" + schema, out=True)
    lib.define("g" + schema)


def test_a_device_by_default(lib, ns):
    lib.define('where(Device d="cpu:0") -> Device')
    cpu = lamella.device("cpu")
    lib.impl("where", lambda d=cpu: d)
    assert getattr(lamella.ops, ns).where() == cpu
