"""Rules from Python: their order against the layer's, withdrawal, closing, callbacks that raise, and derivatives."""

import gc
import weakref

import lamella
import pytest
from lamella.library import Library, on_rule, register_autograd, rules
from threads import in_threads


@pytest.fixture
def lib():
    made = Library("rules", "DEF", owner="the test")
    made.define("f(Tensor self) -> Tensor")
    made.define("g.Tensor(Tensor self, Tensor other) -> Tensor")
    made.define("g.Scalar(Tensor self, Scalar other) -> Tensor")
    yield made
    made.close()


class Hearer:
    """A subscriber, in place of a layer's plugin: logs each rule that it gets and each withdrawal."""

    def __init__(self, name="", log=None):
        self.name, self.log = name, [] if log is None else log

    def __call__(self, rule):
        self.log.append(f"{self.name}+{rule.payload}")
        return lambda: self.log.append(f"{self.name}-{rule.payload}")


@pytest.fixture
def hear():
    """Returns a function that subscribes callbacks; all subscriptions end with the test."""
    made = []

    def subscribe(callback, layer="shout", **options):
        made.append(on_rule(layer, callback, **options))
        return made[-1]

    yield subscribe
    for s in made:
        s.remove()


# ---- rules --------------------------------------------------------------------------------------------------------


def test_a_rule_is_kept_without_its_layer(lib):
    payload = object()
    rule = lib.rule("f", "shout", payload)
    assert rules("rules::f") == rules(lamella.ops.rules.f) == [rule]
    assert (rule.op, rule.layer, rule.payload, rule.owner) == ("rules::f", "shout", payload, "the test")
    other = lib.rule("f", "whisper", 2)
    assert rules("rules::f") == [rule, other] and rules("rules::f", "whisper") == [other]
    assert rules("rules::g.Tensor") == []


def test_names_of_operators(lib):
    assert lib.rule("g.Tensor", "shout", 1).op == lib.rule("rules::g.Tensor", "shout", 1).op == "rules::g.Tensor"
    assert lib.rule(lamella.ops.rules.f, "shout", 1).op == "rules::f"
    assert lib.rule("aten::add.Tensor", "shout", 1).op == "aten::add.Tensor"
    wrongs = {"g": "several overloads", "nothing": "there is no rules::nothing", 3: "expected an operator"}
    for wrong, words in wrongs.items():
        with pytest.raises((RuntimeError, TypeError), match=words):
            lib.rule(wrong, "shout", 1)
    with pytest.raises(RuntimeError, match="there is no rules::nothing"):
        rules("rules::nothing")


def test_somebody_elses_operator(lib):
    stranger = Library("stranger", "DEF", owner="a stranger")
    rule = stranger.rule("rules::f", "shout", 1)
    assert rule.owner == "a stranger" and rules("rules::f") == [rule]
    stranger.close()
    assert rules("rules::f") == []


# ---- order --------------------------------------------------------------------------------------------------------


def test_rules_before_and_after_the_layer(lib, hear):
    hearer = Hearer()
    lib.rule("f", "shout", 1)
    lib.rule("f", "whisper", "not heard")
    hear(hearer)
    assert hearer.log == ["+1"]
    lib.rule("g.Tensor", "shout", 2)
    lib.rule("f", "shout", 3)
    assert hearer.log == ["+1", "+2", "+3"]


def test_two_plugins_hear_the_same_layer(lib, hear):
    log = []
    hear(Hearer("a", log))
    lib.rule("f", "shout", 1)
    hear(Hearer("b", log))
    lib.rule("f", "shout", 2).remove()
    assert log == ["a+1", "b+1", "a+2", "b+2", "b-2", "a-2"]


def test_one_rule_is_withdrawn(lib, hear):
    hearer = Hearer()
    first, second = lib.rule("f", "shout", 1), lib.rule("f", "shout", 2)
    hear(hearer)
    first.remove()
    assert hearer.log == ["+1", "+2", "-1"] and rules("rules::f") == [second]
    with pytest.raises(ValueError, match="rules::f for shout is no live registration"):
        first.remove()


def test_closing_the_library_withdraws_the_last_first(lib, hear):
    hearer = Hearer()
    hear(hearer)
    for n in range(3):
        lib.rule("f", "shout", n)
    lib.close()
    assert hearer.log == ["+0", "+1", "+2", "-2", "-1", "-0"]
    lib.close()
    assert len(hearer.log) == 6


def test_a_rule_goes_before_the_kernels_of_its_library(lib, hear):
    """A callback that runs on withdrawal can still call the operator."""
    lib.impl("f", lambda x: x + 1, "composite")
    f, found = lamella.ops.rules.f, []
    hear(lambda rule: lambda: found.append(f(lamella.zeros(1)).item()))
    lib.rule("f", "shout", 1)
    lib.close()
    assert found == [1]


def test_without_a_subscription_nothing_is_called(lib, hear):
    hearer = Hearer()
    subscription = hear(hearer)
    lib.rule("f", "shout", 1), lib.rule("f", "shout", 2)
    subscription.remove()
    assert hearer.log == ["+1", "+2", "-2", "-1"]
    subscription.remove()
    lib.rule("f", "shout", 3).remove()
    assert len(hearer.log) == 4 and len(rules("rules::f")) == 2


def test_a_subscription_goes_with_its_library(lib, hear):
    plugin, hearer = Library("plugin", "FRAGMENT", owner="the layer's plugin"), Hearer()
    hear(hearer, lib=plugin)
    lib.rule("f", "shout", 1)
    plugin.close()
    lib.rule("f", "shout", 2)
    assert hearer.log == ["+1", "-1"]


def test_nothing_is_held_after_removal(lib, hear):
    class Payload:
        pass

    payload, hearer = Payload(), Hearer()
    watches = [weakref.ref(payload), weakref.ref(hearer)]
    rule, subscription = lib.rule("f", "shout", payload), hear(hearer)
    rule.remove()
    subscription.remove()
    assert subscription.applied == {}
    del payload, rule
    gc.collect()
    assert watches[0]() is None and watches[1]() is hearer


def test_a_callback_registers_and_removes_rules(lib, hear):
    """A callback for one layer's rule may register a rule for another layer; both are removed together."""
    log = []

    def both(rule):
        made = lib.rule(rule.op, "whisper", rule.payload)
        return made.remove

    hear(Hearer("", log), "whisper")
    hear(both)
    lib.rule("f", "shout", 1).remove()
    assert log == ["+1", "-1"] and rules("rules::f") == []


def test_threads(lib, hear):
    """Each subscriber gets each rule once, whether the rule or the subscription comes first."""
    hearers = [Hearer() for _ in range(8)]
    work = [lambda n=n: lib.rule("f", "shout", n) for n in range(8)] + [lambda h=h: hear(h) for h in hearers]
    in_threads(*work)
    for hearer in hearers:
        assert sorted(hearer.log) == sorted(f"+{n}" for n in range(8))


# ---- exceptions ---------------------------------------------------------------------------------------------------


def refuse(rule):
    raise LookupError(f"not {rule.payload}")


def test_a_callback_that_refuses_a_new_rule(lib, hear):
    """The registration fails, and the rule is withdrawn from the callbacks that had accepted it."""
    log = []
    hear(Hearer("a", log))
    hear(refuse)
    with pytest.raises(LookupError, match="not 1"):
        lib.rule("f", "shout", 1)
    assert log == ["a+1", "a-1"] and rules("rules::f") == []
    lib.close()
    assert log == ["a+1", "a-1"]


def test_a_callback_that_refuses_an_old_rule(lib, hear):
    """The refusal becomes a warning; the other rules are applied, and other callbacks may still get the refused one."""
    lib.rule("f", "shout", 1), lib.rule("f", "shout", 2)
    hearer = Hearer()

    def picky(rule):
        return hearer(rule) if rule.payload == 2 else refuse(rule)

    with pytest.warns(RuntimeWarning, match=r"rules::f for shout \(the test\) is set aside: LookupError: not 1"):
        hear(picky)
    assert hearer.log == ["+2"] and len(rules("rules::f")) == 2
    lib.close()
    assert hearer.log == ["+2", "-2"]


def test_a_callback_that_returns_something_else(lib, hear):
    hear(lambda rule: 3)
    with pytest.raises(TypeError, match="must return a function that withdraws, or None; got int"):
        lib.rule("f", "shout", 1)
    with pytest.raises(TypeError, match="on_rule: argument 'callback'"):
        on_rule("shout", None)


def test_a_callback_may_have_nothing_to_withdraw(lib, hear):
    hear(lambda rule: None)
    lib.rule("f", "shout", 1).remove()


def test_a_withdrawal_that_raises_stops_no_other(lib, hear):
    log = []

    def bad(rule):
        def undo():
            raise LookupError(f"stuck with {rule.payload}")

        return undo

    hear(Hearer("a", log))
    hear(bad)
    lib.rule("f", "shout", 1), lib.rule("f", "shout", 2)
    with pytest.raises(LookupError, match="stuck with 2"):
        lib.close()
    assert log == ["a+1", "a+2", "a-2", "a-1"]
    with pytest.raises(RuntimeError, match="there is no rules::f"):
        rules("rules::f")


def test_callbacks_that_withdraw_while_they_hear(lib, hear):
    """A callback may remove an existing rule, its own subscription, or the library of the rule that it gets."""
    log, made = [], {}
    first, second = lib.rule("f", "shout", 1), lib.rule("f", "shout", 2)

    def withdraws(rule):
        log.append(f"+{rule.payload}")
        if rule.payload == 1:
            second.remove()
        return lambda: log.append(f"-{rule.payload}")

    hear(withdraws).remove()
    assert log == ["+1", "-1"] and rules("rules::f") == [first]

    def ends(rule):
        log.append(f"+{rule.payload}")
        if "own" in made:
            made["own"].remove()
        return lambda: log.append(f"-{rule.payload}")

    made["own"] = hear(ends, "whisper")
    log.clear()
    lib.rule("f", "whisper", 3)
    assert log == ["+3", "-3"]

    other = Library("rules", "FRAGMENT", owner="a stranger")
    hear(lambda rule: other.close(), "mutter")
    with pytest.raises(RuntimeError, match="the library of a stranger was closed by a callback for the rule"):
        other.rule("f", "mutter", 4)
    assert [r.payload for r in rules("rules::f")] == [1, 3]
    with pytest.raises(RuntimeError, match="is closed"):
        on_rule("shout", withdraws, lib=other)


def test_an_exception_of_a_withdrawal_belongs_to_its_call(lib, hear):
    """A refused rule raises the refusal, not the exception of its withdrawal, which no later call raises either."""

    def stuck():
        raise LookupError("stuck")

    hear(lambda rule: stuck)
    hear(refuse)
    with pytest.raises(LookupError, match="not 1"):
        lib.rule("f", "shout", 1)
    Library("unrelated", "FRAGMENT", owner="another").close()


# ---- derivatives --------------------------------------------------------------------------------------------------


def backward(ctx, grad):
    return grad


def setup_context(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def test_register_autograd(lib, hear):
    found = []
    rule = register_autograd("rules::f", backward, setup_context=setup_context, lib=lib)
    assert (rule.layer, rule.owner, rule.op) == ("autograd", "the test", "rules::f")
    assert (rule.payload.backward, rule.payload.setup_context) == (backward, setup_context)
    hear(lambda r: found.append(r.op), "autograd")
    assert "rules::f" in found
    lib.register_autograd("g.Tensor", backward)
    assert found[-1] == "rules::g.Tensor" and rules("rules::g.Tensor")[0].payload.setup_context is None
    lib.close()


def test_without_a_library_the_caller_owns_it(lib):
    rule = register_autograd(lamella.ops.rules.f, backward)
    assert rule.owner.startswith(__file__)
    rule.remove()


@pytest.mark.parametrize("schema", ["h(Tensor(a!) self) -> Tensor(a!)", "h(Tensor(a) self, int n) -> Tensor(a)"])
def test_operators_that_write_or_alias_have_none(lib, schema):
    lib.define(schema)
    with pytest.raises(RuntimeError, match="rules::h writes to an argument or returns a view.*functional"):
        lib.register_autograd("h", backward)
    assert rules("rules::h") == []


def test_operators_of_many_shapes_have_one(lib):
    for n, schema in enumerate(["(Tensor[] a, int[2] b=1) -> (Tensor, Tensor)", "(*, Tensor? a=None) -> Tensor[]"]):
        lib.define(f"h{n}.Tensor{schema}")
        assert lib.register_autograd(f"h{n}", backward).op == f"rules::h{n}.Tensor"


def test_what_is_no_callable(lib):
    with pytest.raises(TypeError, match="register_autograd: argument 'backward': expected a callable, got int"):
        register_autograd("rules::f", 3, lib=lib)
    with pytest.raises(TypeError, match="argument 'setup_context': expected a callable, got str"):
        register_autograd("rules::f", backward, setup_context="x", lib=lib)


def test_a_library_closes_with_a_subscription_whose_effects_it_registered(lib):
    own = Library("rules", "IMPL", owner="the layer")
    layer = own.register_layer("shouting", lambda call, *args: call(*args), never_on_tensors=True)

    def register(rule):
        handle = own.impl(rule.op, lambda call, x: call(x) + 1, "shouting")
        return lambda: own.withdraw(handle)

    on_rule("shout", register, lib=own)
    lib.impl("f", lambda x: x * 2, "composite")
    lib.rule("f", "shout", "louder")
    with layer.on():
        assert lamella.ops.rules.f(lamella.ones(1)).tolist() == [3]
    own.close()
    assert lamella.ops.rules.f(lamella.ones(1)).tolist() == [2]
