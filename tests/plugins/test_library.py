"""lamella.library: definitions, kernels, layers, conflicts, withdrawal, and the state afterwards."""

import gc
import weakref

import lamella
import pytest
from children import OWN_PLUGINS
from lamella.library import Library, fallthrough_kernel, register_layer
from threads import in_threads


@pytest.fixture
def lib(request):
    """Makes a library in its own namespace; it is closed when the test ends."""
    made = Library(f"t{abs(hash(request.node.nodeid))}", "DEF", owner="the test")
    yield made
    made.close()


def ops(lib):
    return getattr(lamella.ops, lib.ns)


def names_of_layers():
    from lamella import _C

    return [name for _, name, _ in _C._layers()]


class Tally:
    """Makes a layer's handler that logs each call under a name."""

    def __init__(self, name="", log=None):
        self.name, self.log = name, [] if log is None else log

    def __call__(self, call, *args, **kwargs):
        self.log.append(f"{self.name}{call.name}")
        return call(*args, **kwargs)


# ---- definitions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schema", ["f(Tensor x, Tensr y) -> Tensor", "f(Tensr x)\0 -> Tensor"])
def test_a_schema_that_does_not_parse(lib, schema):
    """tests/cpp/schema.cpp tests the whole grammar."""
    with pytest.raises(ValueError, match="schema.*Tensr"):
        lib.define(schema)
    with pytest.raises(AttributeError):
        ops(lib).f  # noqa: B018


def test_define_and_call(lib):
    lib.define("scaled(Tensor self, float by=2.0, *, int times=1) -> Tensor", doc="A doc.")
    lib.impl("scaled", lambda x, by=2.0, *, times=1: x * by * times, "composite")
    x = lamella.tensor([1.0, 2.0])
    assert ops(lib).scaled(x).tolist() == [2, 4]
    assert ops(lib).scaled(x, 3).tolist() == [3, 6]
    assert ops(lib).scaled(x, times=5).tolist() == [10, 20]
    assert ops(lib).scaled(self=x, by=1.5, times=2).tolist() == [3, 6]
    with pytest.raises(TypeError, match="scaled"):
        ops(lib).scaled(x, 1, 2)
    with pytest.raises(TypeError, match="by"):
        ops(lib).scaled(x, "two")


def test_overloads_are_chosen_by_type(lib):
    lib.define("f.Tensor(Tensor self, Tensor other) -> Tensor")
    lib.define("f.Scalar(Tensor self, Scalar other) -> Tensor")
    lib.impl("f.Tensor", lambda x, y: x + y, "composite")
    lib.impl("f.Scalar", lambda x, y: x * y, "composite")
    x = lamella.tensor([3.0])
    assert ops(lib).f(x, x).item() == 6
    assert ops(lib).f(x, 5).item() == 15
    assert sorted(ops(lib).__dir__()) == ["f"]


def test_keywords_of_a_dictionary_choose_the_same_overload(lib):
    """Keyword names need not be interned, as those in source text are."""
    lib.define("scaled(Tensor self, *, float by) -> Tensor")
    lib.define("scaled.Tensor(Tensor self, *, Tensor by) -> Tensor")
    lib.impl("scaled", lambda x, *, by: x * 0)
    lib.impl("scaled.Tensor", lambda x, *, by: x * by)
    options = {"".join(["b", "y"]): lamella.tensor(2.0)}
    scaled = ops(lib).scaled
    assert scaled(lamella.ones(1), by=lamella.tensor(2.0)).item() == scaled(lamella.ones(1), **options).item() == 2

    class Text(str):
        """A subclass of str, whose objects are never interned."""

    assert lamella.sum(lamella.ones(2, 3), **{Text("dim"): 0}).tolist() == [2, 2, 2]


def test_several_results(lib):
    lib.define("both(Tensor self) -> (Tensor, Tensor)")
    lib.impl("both", lambda x: (x + 1, x * 2), "composite")
    one, two = ops(lib).both(lamella.tensor([5.0]))
    assert (one.item(), two.item()) == (6, 10)
    lib.define("short(Tensor self) -> (Tensor, Tensor)")
    lib.impl("short", lambda x: x, "composite")
    with pytest.raises(TypeError, match="tuple of 2"):
        ops(lib).short(lamella.ones(1))
    lib.define("nothing(Tensor self) -> ()")
    lib.impl("nothing", lambda x: None, "composite")
    assert ops(lib).nothing(lamella.ones(1)) is None


def test_a_kernel_that_returns_something_else(lib):
    lib.define("f(Tensor self) -> Tensor")
    lib.impl("f", lambda x: "a string", "composite")
    with pytest.raises(TypeError, match="f: .*Tensor.*str"):
        ops(lib).f(lamella.ones(1))


def test_lists_strings_and_optionals_reach_a_kernel(lib):
    seen = []
    options = "float? eps=None, ScalarType? dtype=None, bool flag=False"
    lib.define(f"f(Tensor[] xs, int[] sizes, str mode, {options}) -> Tensor")
    lib.impl("f", lambda *a, **k: seen.append((a, k)) or a[0][0], "composite")
    x, y = lamella.ones(1), lamella.zeros(1)
    ops(lib).f([x, y], (1, 2), "mode", dtype=lamella.int64, flag=True)
    (args, kwargs) = seen[0]
    assert args[0][0] is x and args[0][1] is y and list(args[1]) == [1, 2] and args[2] == "mode"
    assert args[3:] == (None, lamella.int64, True) and kwargs == {}


def test_defining_twice_names_both_owners(lib):
    lib.define("f(Tensor self) -> Tensor")
    other = Library(lib.ns, "FRAGMENT", owner="somebody else")
    with pytest.raises(RuntimeError, match=r"f.*the test.*somebody else"):
        other.define("f(Tensor self) -> Tensor")
    other.close()


def test_a_kernel_without_an_operator(lib):
    with pytest.raises(RuntimeError, match="nothing.*the test"):
        lib.impl("nothing", lambda x: x, "cpu")


def test_a_category_that_is_none(lib):
    with pytest.raises(ValueError, match="sorcery"):
        lib.impl_category("sorcery", lambda x: x, "cpu")


@pytest.mark.needs("autograd")
def test_a_layer_decomposes_a_composite_from_python(lib):
    """Autograd records the composite's inner operators; the composite is not a kernel of autograd's layer."""
    lib.define("softsign(Tensor self, *, Scalar by=1) -> Tensor")
    lib.impl("softsign", lambda x, by=1: x / (by + x.abs()), "composite")
    lib.define("both(Tensor self) -> (Tensor, Tensor)")
    lib.impl("both", lambda x: (x * 2, x.exp()), "composite")
    x = lamella.tensor([1.0, -3.0], requires_grad=True)
    (slope,) = lamella.autograd.grad(ops(lib).softsign(x, by=2).sum(), x)
    assert lamella.allclose(slope, 2 / (2 + x.detach().abs()).square())
    twice, exp = ops(lib).both(x)
    (slope,) = lamella.autograd.grad((twice + exp).sum(), x)
    assert lamella.allclose(slope, 2 + exp.detach())


def test_in_place_and_out_forms_of_a_composite(lib):
    lib.define("twice(Tensor self) -> Tensor", inplace=True, out=True)
    lib.impl("twice", lambda x: x + x, "composite")
    x, out = lamella.tensor([1.0, 2.0]), lamella.zeros(2)
    assert ops(lib).twice(x, out=out) is out and out.tolist() == [2, 4]
    version = x._version
    assert ops(lib).twice_(x) is x and x.tolist() == [2, 4]
    assert x._version > version


# ---- kernels ---------------------------------------------------------------------------------------------------


def test_kernels_stack_and_withdraw_in_any_order(lib):
    lib.define("f(Tensor self) -> Tensor")
    x = lamella.ones(1)
    handles = [lib.impl("f", lambda x, n=n: lamella.full((1,), float(n)), "cpu") for n in range(4)]
    f = ops(lib).f
    assert f(x).item() == 3
    lib.withdraw(handles[1])
    assert f(x).item() == 3
    lib.withdraw(handles[3])
    assert f(x).item() == 2
    lib.withdraw(handles[2])
    assert f(x).item() == 0
    lib.withdraw(handles[0])
    with pytest.raises(NotImplementedError, match="no kernel for device 'cpu'"):
        f(x)


def test_withdrawing_twice(lib):
    lib.define("f(Tensor self) -> Tensor")
    handle = lib.impl("f", lambda x: x, "cpu")
    lib.withdraw(handle)
    with pytest.raises(ValueError, match="no live registration"):
        lib.withdraw(handle)


def test_a_missing_kernel_says_who_has_one(lib):
    lib.define("f(Tensor self) -> Tensor")
    lib.impl("f", lambda x: x, "cpu")
    with pytest.raises(NotImplementedError, match=r"f: no kernel for device 'meta'.*'cpu' \(the test\)"):
        ops(lib).f(lamella.empty(1, device="meta"))


def test_kernels_are_passed_over_until_the_outermost_ends():
    """Nested blocks are counted; in-place and out= forms are disabled with their operator, or alone."""

    def native(form):
        with pytest.raises(NotImplementedError, match="relu.*disabled"):
            form()

    x = lamella.ones(2)
    forms = [x.relu, x.relu_, lambda: lamella.relu(x, out=x)]
    with lamella.library.kernels_disabled(["aten::relu"], "cpu"):
        with lamella.library.kernels_disabled(["aten::relu", "aten::relu"], "cpu"):
            for form in forms:
                native(form)
        for form in forms:
            native(form)
    with lamella.library.kernels_disabled(["aten::relu_"], "cpu"):
        native(x.relu_)
        assert x.relu().tolist() == [1, 1]
    for form in forms:
        assert form().tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="disable_kernel: argument 'key'.*'cqu'"):
        lamella.library.kernels_disabled("aten::relu", "cqu").__enter__()


def test_close_takes_everything_back(lib):
    other = Library(lib.ns + "x", "DEF", owner="another")
    other.define("f(Tensor self) -> Tensor")
    other.impl("f", lambda x: x, "composite")
    f = ops(other).f
    adds = Library("aten", "IMPL", owner="another")
    adds.impl("add.Tensor", lambda x, y, alpha=1: x.clone(), "cpu")
    layer = other.register_layer("watch", Tally())
    x = lamella.ones(1)
    assert f(x) is x and (x + x).item() == 1 and "watch" in names_of_layers()
    other.close()
    adds.close()
    assert (x + x).item() == 2 and "watch" not in names_of_layers()
    with pytest.raises((RuntimeError, AttributeError), match=f"{other.ns}::f"):
        f(x)
    with layer.on():
        assert (x + x).item() == 2
    other.close()  # closing twice does nothing


def test_a_name_comes_back_after_close():
    x = lamella.ones(1)
    for factor in (2.0, 3.0):
        again = Library("comesback", "DEF", owner="the test")
        again.define("f(Tensor self) -> Tensor")
        again.impl("f", lambda x, factor=factor: x * factor, "composite")
        assert lamella.ops.comesback.f(x).item() == factor
        again.close()


def test_kernels_are_reclaimed_after_withdrawal(lib):
    class Kernel:
        def __call__(self, x):
            return x + 1

    lib.define("f(Tensor self) -> Tensor")
    kernel = Kernel()
    watch = weakref.ref(kernel)
    handle = lib.impl("f", kernel, "cpu")
    del kernel
    gc.collect()
    assert watch() is not None and ops(lib).f(lamella.ones(1)).item() == 2
    lib.withdraw(handle)
    gc.collect()
    assert watch() is None


def test_kernels_and_handlers_are_reclaimed_by_close():
    other = Library("reclaimed", "DEF", owner="the test")
    other.define("f(Tensor self) -> Tensor", category="pointwise", dims="broadcast")
    kernel, handler, category = (Tally(n) for n in "khc")
    watches = [weakref.ref(t) for t in (kernel, handler, category)]
    other.impl("f", kernel, "cpu")
    other.impl_category("pointwise", category, other.register_layer("watch", handler).name)
    del kernel, handler, category
    gc.collect()
    assert all(w() is not None for w in watches)
    other.close()
    gc.collect()
    assert [w() for w in watches] == [None] * 3


def test_registrations_that_fail_keep_no_callable(lib):
    kernel = Tally()
    watch = weakref.ref(kernel)
    with pytest.raises(RuntimeError):
        lib.impl("nothing", kernel, "cpu")
    with pytest.raises(ValueError):
        lib.impl_category("sorcery", kernel, "cpu")
    with pytest.raises(ValueError):
        lib.register_layer("nowhere", kernel, at="nowhere")
    del kernel
    gc.collect()
    assert watch() is None


def test_a_kernel_withdraws_itself_while_it_runs(lib):
    lib.define("f(Tensor self) -> Tensor")
    lib.impl("f", lambda x: lamella.zeros(1), "cpu")

    def kernel(x):
        lib.withdraw(handle)
        return x + 1

    handle = lib.impl("f", kernel, "cpu")
    assert ops(lib).f(lamella.ones(1)).item() == 2
    assert ops(lib).f(lamella.ones(1)).item() == 0


def test_a_reclaimed_kernel_may_call_operators(host):
    """A finalizer that runs during a kernel's withdrawal calls the same operator: it gets the kernel below."""
    host.run(
        """
        import lamella

        class Kernel:
            def __call__(self, x):
                return lamella.full((1,), 1.0)
            def __del__(self):
                try:
                    found.append(lamella.ops.mine.f(lamella.ones(1)).item())
                except (RuntimeError, AttributeError):
                    found.append("gone")

        found = []
        lib = lamella.library.Library("mine", "DEF", owner="the test")
        lib.define("f(Tensor self) -> Tensor")
        lib.impl("f", lambda x: lamella.full((1,), 5.0), "cpu")
        handle = lib.impl("f", Kernel(), "cpu")
        assert lamella.ops.mine.f(lamella.ones(1)).item() == 1
        lib.withdraw(handle)
        assert found == [5], found
        lib.impl("f", Kernel(), "cpu")
        lib.close()  # whether the operator is still there is not said, but it ends
        assert found[1:] in ([5], ["gone"]), found
    """,
        timeout=20,
    )


# ---- layers ----------------------------------------------------------------------------------------------------


@pytest.fixture
def layers(lib):
    """Returns a function that registers layers; their calls go into one list."""
    log = []

    def make(name, **wishes):
        return lib.register_layer(name, Tally(name + ":", log), **wishes)

    make.log = log
    return make


def test_on_off_and_nesting(layers):
    layer, x = layers("watched"), lamella.ones(1)
    x + x
    with layer.on():
        x + x
        with layer.off():
            x * x
            with layer.on():
                x - x
        with layer.on():
            x / x
        x + 1
    x + x
    assert layers.log == ["watched:aten::" + n for n in ("add", "sub", "div", "add")]


def test_on_ends_with_an_exception(layers):
    layer, x = layers("watched"), lamella.ones(2)
    with pytest.raises(RuntimeError, match="broadcast"):
        with layer.on():
            x + lamella.ones(3)
    layers.log.clear()
    x + x
    assert layers.log == []


def test_the_outermost_runs_first(layers):
    inner = layers("inner", at="autograd")
    outer = layers("outer", at="profiler")
    outermost = layers("outermost", outside=("outer",))
    between = layers("between", inside=("outer",), outside=("inner",))
    x = lamella.ones(1)
    with inner.on(), between.on(), outermost.on(), outer.on():
        x + x
    assert layers.log == [n + ":aten::add" for n in ("outermost", "outer", "between", "inner")]
    assert outermost.bit > outer.bit > between.bit > inner.bit


def test_a_wish_for_a_layer_that_comes_later(layers):
    first = layers("first", inside=("second",))
    second = layers("second")
    assert second.bit > first.bit
    third = layers("third", inside=("second",), outside=("first",))
    assert second.bit > third.bit > first.bit


def test_contradicting_wishes_name_the_owners(lib, layers):
    layers("low", at="backend")
    with pytest.raises(RuntimeError, match=r"torn.*contradict.*low.*the test|torn.*contradict.*profiler.*low"):
        layers("torn", at="profiler", inside=("low",))
    layers("one", outside=("two",))
    with pytest.raises(RuntimeError) as error:
        layers("two", outside=("one",))
    assert "one" in str(error.value) and "two" in str(error.value) and "the test" in str(error.value)
    assert "two" not in names_of_layers()


def test_a_taken_name_names_both_owners(lib, layers):
    layers("mine")
    other = Library("other", "FRAGMENT", owner="somebody else")
    with pytest.raises(RuntimeError, match=r"mine.*the test.*somebody else"):
        other.register_layer("mine", Tally())
    other.close()


def test_wishes_that_are_no_anchor(layers):
    with pytest.raises(ValueError, match="nowhere.*profiler"):
        layers("lost", at="nowhere")
    with pytest.raises(ValueError, match="profiler"):
        layers("profiler")


def test_a_layer_without_a_handler(lib):
    with pytest.raises(ValueError, match="bare.*fallback"):
        lib.register_layer("bare")
    layer = lib.register_layer("watch", fallthrough=True)
    with layer.on():
        assert (lamella.ones(1) + 1).item() == 2


def test_a_layer_without_a_handler_in_a_library_of_its_own(lib):
    with pytest.raises(ValueError, match="bare.*fallback"):
        register_layer("bare")
    log = []
    layer = register_layer("alone", fallthrough=True)
    try:
        lib.impl("aten::add.Tensor", Tally("alone:", log), "alone")
        with layer.on():
            x = lamella.ones(1)
            assert (x + x).item() == 2 and (x * x).item() == 1
        assert log == ["alone:aten::add"]
    finally:
        layer.remove()


def test_a_kernel_of_a_layer_for_one_operator(lib):
    """The layer passes other operators on; fallthrough_kernel makes a layer with a fallback pass one operator on."""
    log = []
    some = lib.register_layer("some", fallthrough=True)
    lib.impl("aten::add.Tensor", Tally("some:", log), "some")
    every = lib.register_layer("every", Tally("every:", log), inside=("some",))
    lib.impl("aten::mul.Tensor", fallthrough_kernel, "every")
    x = lamella.ones(1)
    with some.on(), every.on():
        x + x
        x * x
        x - x
    assert log == ["some:aten::add", "every:aten::add", "every:aten::sub"]


def test_a_category_of_a_layer(lib):
    log = []
    layer = lib.register_layer("watch", Tally("other:", log))
    lib.impl_category("pointwise", Tally("pointwise:", log), "watch")
    lib.impl("aten::exp", Tally("own:", log), "watch")
    x = lamella.ones(2, 2)
    with layer.on():
        x + x
        x.t()
        lamella.exp(x)
        x @ x
    assert log == ["pointwise:aten::add", "other:aten::t", "own:aten::exp", "other:aten::matmul"]


def test_inside_composites_only_if_it_wishes(lib):
    """matmul calls mm: a layer that has passed matmul on gets no mm, unless it stays on inside."""
    x = lamella.ones(2, 2)
    for stays, wanted in [(False, ["aten::matmul"]), (True, ["aten::matmul", "aten::mm"])]:
        log = []
        layer = lib.register_layer("watch", Tally(log=log), stays_inside=stays)
        with layer.on():
            x @ x
        layer.remove()
        assert log == wanted


def test_decompose_shows_the_parts_to_the_layer(lib):
    log = []
    layer = lib.register_layer("watch", Tally(log=log), decompose=True)
    with layer.on():
        lamella.ones(2, 2) @ lamella.ones(2, 2)
    assert "aten::bmm" in log and not {"aten::matmul", "aten::mm", "aten::ones"} & set(log)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_what_is_decomposed_knows_its_device(lib, device):
    x = lamella.ones(2, 2, device=device)
    layer = lib.register_layer("watch", Tally(log=[]), decompose=True)
    for join in (lamella.cat, lamella.stack, lamella.hstack, lamella.vstack):
        plain = join([x, x])
        with layer.on():
            joined = join([x, x])
        assert joined.device == x.device and joined.shape == plain.shape
        assert device == "meta" or joined.tolist() == plain.tolist()


def test_a_layer_has_any_name():
    layer = lamella.library.register_layer("mine.watch", lambda call, *args, **kwargs: call(*args, **kwargs))
    with layer.on():
        assert (lamella.ones(1) + 1).item() == 2
    layer.remove()


def test_a_handler_sees_layouts_and_memory_formats(lib):
    seen = []

    def handler(call, *args, **kwargs):
        seen.append((call.name, kwargs))
        return call(*args, **kwargs)

    x = lamella.ones(1, 2, 3, 3)
    layer = lib.register_layer("watch", handler)
    with layer.on():
        y = x.clone(memory_format=lamella.channels_last)
        lamella.zeros(1, layout=lamella.strided)
    layer.remove()
    assert y.stride() == (18, 1, 6, 2) and seen[0] == ("aten::clone", {"memory_format": lamella.channels_last})
    assert seen[1][0] == "aten::zeros" and seen[1][1]["layout"] is lamella.strided


def test_a_layer_is_off_inside_its_own_handler(lib):
    depth = []

    def handler(call, *args, **kwargs):
        depth.append(call.name)
        assert len(depth) < 10
        lamella.ones(1) * 3
        return call(*args, **kwargs)

    layer = lib.register_layer("watch", handler)
    with layer.on():
        lamella.ones(1).neg()
    assert depth == ["aten::ones", "aten::neg"]


def test_a_handler_changes_arguments_and_results(lib):
    def handler(call, *args, **kwargs):
        if call.name != "aten::add":
            return call(*args, **kwargs)
        return call(args[0], args[1] * 2, **kwargs) - 1

    layer = lib.register_layer("watch", handler)
    with layer.on():
        assert (lamella.tensor([10.0]) + lamella.tensor([3.0])).item() == 15
        with pytest.raises(TypeError, match="add"):
            lib.impl("aten::add.Tensor", lambda call, *a, **k: call(a[0], "three"), "watch")
            lamella.tensor([10.0]) + lamella.tensor([3.0])


def test_a_handler_need_not_redispatch(lib):
    layer = lib.register_layer("watch", lambda call, *a, **k: lamella.full((1,), 42.0))
    with layer.on():
        assert lamella.exp(lamella.ones(1)).tolist() == [42]


def test_a_handler_may_redispatch_twice(lib):
    layer = lib.register_layer("watch", lambda call, *a, **k: call(*a, **k) + call(*a, **k))
    with layer.on():
        assert lamella.exp(lamella.zeros(1)).tolist() == [2]


def test_a_call_is_over_when_its_handler_has_returned(lib):
    kept = []
    layer = lib.register_layer("watch", lambda call, *a, **k: kept.append(call) or call(*a, **k))
    x = lamella.ones(1)
    with layer.on():
        x + x
    with pytest.raises(RuntimeError, match="has returned"):
        kept[0](x, x)
    assert kept[0].name == ""


def test_what_a_call_says(lib):
    seen = []

    def handler(call, *args, **kwargs):
        seen.append((call.name, call.overload, call.category, call.schema, args, kwargs))
        return call(*args, **kwargs)

    x = lamella.ones(1)
    with lib.register_layer("watch", handler).on():
        lamella.add(x, 2, alpha=3)
        lamella.add(x, x, alpha=3)
        x.sum()
    assert [s[:3] for s in seen] == [
        ("aten::add", "Scalar", "pointwise"),
        ("aten::add", "Tensor", "pointwise"),
        ("aten::sum", "", "reduction"),
    ]
    assert seen[1][3] == "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    assert seen[0][4][0] is x and seen[0][4][1:] == (2, 3) and seen[0][5] == {}
    assert seen[1][4][0] is x and seen[1][4][1] is x and seen[1][5] == {"alpha": 3}


class Strange(Exception):
    def __init__(self, payload):
        super().__init__("strange")
        self.payload = payload


def test_exceptions_come_back_as_the_same_object(lib):
    """A kernel's exception passes two Python layers, each of which catches the same object."""
    passed = []

    def watches(call, *args, **kwargs):
        try:
            return call(*args, **kwargs)
        except Strange as error:
            passed.append(error)
            raise

    thrown = Strange(object())
    lib.define("f(Tensor self) -> Tensor")

    def kernel(x):
        raise thrown

    lib.impl("f", kernel, "cpu")
    layers = [lib.register_layer(f"watches{i}", watches) for i in range(2)]
    with pytest.raises(Strange) as caught, layers[0].on(), layers[1].on():
        ops(lib).f(lamella.ones(1))
    assert caught.value is thrown and passed == [thrown, thrown]
    assert "kernel" in [entry.name for entry in caught.traceback]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError, StopIteration])
def test_any_exception_passes(lib, kind):
    thrown = kind("why")

    def handler(call, *args, **kwargs):
        raise thrown

    with pytest.raises(kind) as caught, lib.register_layer("watch", handler).on():
        lamella.ones(1)
    assert caught.value is thrown
    assert lamella.ones(1).item() == 1


def test_a_handler_recovers(lib):
    def handler(call, *args, **kwargs):
        try:
            return call(*args, **kwargs)
        except RuntimeError as error:
            assert "broadcast" in str(error)
            return lamella.full((1,), -1.0)

    with lib.register_layer("watch", handler).on():
        assert (lamella.ones(2) + lamella.ones(3)).tolist() == [-1]
    with pytest.raises(RuntimeError, match="broadcast"):
        lamella.ones(2) + lamella.ones(3)


def test_exceptions_are_released(lib):
    def handler(call, *args, **kwargs):
        raise Strange(None)

    with lib.register_layer("watch", handler).on():
        try:
            lamella.ones(1)
        except Strange as error:
            watch = weakref.ref(error)
    gc.collect()
    assert watch() is None


def test_a_layer_of_another_thread_is_not_mine(layers):

    layer, x = layers("mine"), lamella.ones(1)
    with layer.on():
        in_threads(lambda: x + x)
    assert layers.log == []
    layer.always(True)
    try:
        in_threads(lambda: x * x)
    finally:
        layer.always(False)
    x + x
    assert layers.log == ["mine:aten::mul"]


def test_remove_while_it_is_on(layers):
    layer, x = layers("goes"), lamella.ones(1)
    with layer.on():
        x + x
        layer.remove()
        x + x
    x + x
    assert layers.log == ["goes:aten::add"] and "goes" not in names_of_layers()


def test_a_layer_removes_itself(lib):
    def handler(call, *args, **kwargs):
        layer.remove()
        return call(*args, **kwargs)

    layer = lib.register_layer("watch", handler)
    with layer.on():
        assert (lamella.ones(1) + 1).item() == 2
    assert "watch" not in names_of_layers()


def test_a_name_that_comes_back_keeps_its_bit(lib):
    first = lib.register_layer("watch", Tally())
    first.remove()
    second = lib.register_layer("watch", Tally())
    assert second.bit == first.bit


def test_register_layer_stands_alone():
    log = []
    layer = register_layer("outer", Tally(log=log), at="profiler")
    with layer.on():
        lamella.ones(1) + 1
    layer.remove()
    assert log == ["aten::ones", "aten::add"]


def test_sixty_layers(host):
    """The maximal number of layers: each is called once, outermost first, and one more is refused by name."""
    out = host.run(
        """
        import lamella
        from lamella import _C

        log, layers = [], []
        def handler(n):
            return lambda call, *a, **k: log.append(n) or call(*a, **k)
        free = 63 - len(_C._layers())  # one bit is no layer's
        assert free > 50
        for n in range(free):
            layers.append(lamella.library.register_layer(f"layer{n}", handler(n)))
            lamella.ones(1) + 1  # fills tables, so that the next registration replaces them
        assert len({layer.bit for layer in layers}) == free
        with fails(RuntimeError, "straw", "64", "layer"):
            lamella.library.register_layer("straw", handler(-1))
        x = lamella.ones(1)
        for layer in layers:
            layer.always(True)
        y = x + x
        for layer in layers:
            layer.always(False)
        assert y.item() == 2
        order = sorted(range(free), key=lambda n: -layers[n].bit)
        assert log == order, (log, order)
        print(_C._retained_bytes())
    """,
        LAMELLA_PLUGINS=OWN_PLUGINS,
    )
    kept = int(out.split()[-1])
    print(f"old snapshots keep {kept:,} bytes")
    assert 0 < kept <= 32 * 2**20


@pytest.mark.parametrize("tensors, lists", [(64, 0), (0, 64), (20, 44), (1, 6)])
def test_any_number_of_tensors_and_of_lists(lib, tensors, lists):
    """torch's fused optimizers have six lists; layers and devices of all tensors count."""
    arguments = [f"Tensor t{i}" for i in range(tensors)] + [f"Tensor[] l{i}" for i in range(lists)]
    lib.define(f"wide({', '.join(arguments)}) -> Tensor")
    lib.impl("wide", lambda *all: sum(x for a in all for x in (a if isinstance(a, (list, tuple)) else [a])), "cpu")
    wide = ops(lib).wide
    one = lamella.ones(1)
    given = [one] * tensors + [[one, one]] * lists
    assert wide(*given).item() == tensors + 2 * lists
    spied = []
    layer = lib.register_layer("spy", lambda call, *a: spied.append(len(a)) or call(*a))
    with layer.on():
        wide(*given)
    assert spied[0] == tensors + lists
    elsewhere = lamella.empty(1, device="meta")
    given[-1] = [one, elsewhere] if lists else elsewhere
    with pytest.raises(RuntimeError, match="is on meta"):
        wide(*given)


def test_observers_come_and_go(host):
    """Ten thousand observers use one bit in turn; a full band borrows bits of its neighbours."""
    host.run("""
        import lamella
        from lamella import _C

        register = lamella.library.register_layer
        bits, before = set(), len(_C._layers())
        for i in range(10_000):
            layer = register(f"observer{i}", lambda call, *a: call(*a), at="profiler", never_on_tensors=True)
            bits.add(layer.bit)
            if i % 2500 == 0:
                layer.always(True)
                lamella.ones(1) + 1
            layer.remove()
        assert len(bits) == 1 and len(_C._layers()) == before, (bits, _C._layers())
        lamella.ones(1) + 1

        bands = {name: (low, high) for name, low, high in _C._anchors()}
        low, high = bands["profiler"]
        handler = lambda call, *a: call(*a)
        taken = sum(low <= bit <= high for bit, *_ in _C._layers())
        many = [register(f"deep{i}", handler, at="profiler", never_on_tensors=True) for i in range(14)]
        outside = [layer for layer in many if not low <= layer.bit <= high]
        assert len(outside) == 4 + taken, [layer.bit for layer in many]
        modes = [register(f"mode{i}", lambda call, *a: call(*a), at="modes", never_on_tensors=True) for i in range(3)]
        names = [register(f"name{i}", lambda call, *a: call(*a), at="names", never_on_tensors=True) for i in range(3)]
        assert min(m.bit for m in modes) > max(d.bit for d in many), "a mode inside an observer"
        assert max(n.bit for n in names) < min(d.bit for d in many), "a layer of names outside an observer"
        for layer in many + modes + names:
            layer.remove()
        again = register("again", lambda call, *a: call(*a), at="profiler", never_on_tensors=True)
        assert low <= again.bit <= high
        again.remove()

        # A wish that names an anchor is for the layers that the anchor's neighbours have lent a place, too.
        low, high = bands["autocast"]
        taken = sum(low <= bit <= high for bit, *_ in _C._layers())
        many = [register(f"cast{i}", handler, at="autocast", never_on_tensors=True) for i in range(14)]
        lent = [m.bit for m in many if not low <= m.bit <= high]
        assert len(lent) == 3 + taken and all(low - 3 <= bit <= high + 3 for bit in lent), lent  # the nearest ones
        over = register("over", handler, outside=["autocast"], never_on_tensors=True)
        under = register("under", handler, inside=["autocast"], never_on_tensors=True)
        assert over.bit > max(m.bit for m in many) and under.bit < min(m.bit for m in many)
        for layer in many + [over, under]:
            layer.remove()

        kept = register("kept", lambda call, *a: call(*a))
        bit = kept.bit
        with kept.on():
            kept.remove()
            other = register("other", lambda call, *a: call(*a))
            assert other.bit != bit  # this thread includes it
        other.remove()

        back = register("kept", lambda call, *a: call(*a))
        assert back.bit == bit  # no other layer has it
        back.remove()
        with back.off():  # it has no bit to switch off
            pass

        seen = []
        next_one = register("next_one", lambda call, *a, **k: seen.append(call.name) or call(*a, **k))
        for gone in (kept, back, other):
            with gone.on():
                lamella.ones(1) + 1
            gone.always(True)
            lamella.ones(1) + 1
        assert seen == []

        # Blocks that end in another order, as those of generators do: each restores its own bit alone.
        first = register("first", handler)
        outer, inner = first.on(), next_one.on()
        outer.__enter__(), inner.__enter__()
        outer.__exit__(None, None, None)
        first.remove()
        second = register("second", lambda call, *a, **k: seen.append("second") or call(*a, **k))
        inner.__exit__(None, None, None)
        seen.clear()
        lamella.ones(1) + 1
        assert seen == [] and _C._thread_layers()[0] == 0
        second.remove()
        with next_one.on():
            for gone in (kept, back, other):
                with gone.off():
                    seen.clear()
                    lamella.ones(1) + 1
                    assert "aten::add" in seen, seen
        next_one.remove()
    """)


def test_a_layer_avoids_bits_that_a_thread_excludes(host):
    host.run("""
        import lamella

        library = lamella.library.Library("aten", "IMPL")
        first = library.register_layer("first", lambda call, *a: call(*a), at="modes")
        with first.off():
            first.remove()
            second = library.register_layer("second", lambda call, *a: call(*a), at="modes")
            assert second.bit != first.bit
        library.close()
    """)


def test_layers_come_and_go(host):
    """A layer whose key no tensor has had gives its place back with its library, whatever its name is."""
    host.run("""
        import threading
        import lamella
        from lamella import _C

        before, seen = len(_C._layers()), []
        stop = threading.Event()

        def work():
            while not stop.is_set():
                lamella.ones(2) + 1

        worker = threading.Thread(target=work)
        worker.start()
        try:
            for i in range(3000):
                library = lamella.library.Library("aten", "IMPL")
                layer = library.register_layer(f"passing{i}", lambda call, *a, i=i: seen.append(i) or call(*a))
                if i % 500 == 0:
                    with layer.on():
                        lamella.ones(1) + 1
                    assert seen and set(seen) == {i}, (i, seen)
                    seen.clear()
                library.close()
                if i % 500 == 0:
                    lamella.ones(1) + 1
                    assert not seen
        finally:
            stop.set()
            worker.join()
        assert len(_C._layers()) == before, _C._layers()
    """)
