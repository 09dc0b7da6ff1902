"""Every way of adding uses dispatch: another package's kernel for aten::add serves all, until it is withdrawn."""

import pytest

WAYS = """
    import sys
    import numpy as np
    import lamella

    def ways():
        a, b = lamella.tensor([1.0, 2.0]), lamella.tensor([10.0, 20.0])
        c, out = a.clone(), lamella.zeros(2)
        kept = c
        c += b
        assert c is kept
        assert lamella.add(a, b, out=out) is out
        d = a.clone()
        d.add_(b)
        return {
            "a + b": a + b,
            "a.add(b)": a.add(b),
            "lamella.add(a, b)": lamella.add(a, b),
            "lamella.add(input=...)": lamella.add(a, other=b),
            "lamella.ops.aten.add": lamella.ops.aten.add(a, b),
            "a += b": c,
            "a.add_(b)": d,
            "out=": out,
        }

    def all_are(*wanted):
        for way, got in ways().items():
            np.testing.assert_array_equal(got.numpy(), np.array(wanted, "float32"), way)
"""


def test_a_native_kernel(stranger):
    stranger.run(
        WAYS
        + """
    from tiny_stranger import native

    all_are(11, 22)
    assert native.add(1, 10) == 11
    assert native.stack(b"aten::add.Tensor") == 0, native.error()
    before = native.called()
    all_are(42, 42)
    assert native.called() - before == 8
    assert native.add(1, 10) == 42  # the C ABI takes it too
    assert (lamella.tensor([1.0]) - lamella.tensor([1.0])).item() == 0
    assert native.withdraw() == 0
    all_are(11, 22)
    assert native.add(1, 10) == 11
    assert native.withdraw() != 0 and b"no live registration" in native.error()
    """
    )


def test_it_is_in_the_operators_table(stranger):
    out = stranger.run("""
        from lamella import _C
        from tiny_stranger import native
        native.stack(b"add.Tensor")
        print(_C._show("add.Tensor"))
    """)
    kernels = [line.split() for line in out.splitlines() if line.strip().startswith("kernel") and " cpu " in line]
    assert len(kernels) == 2 and "stranger.cpp" in " ".join(kernels[1])


def test_a_python_kernel(host):
    host.run(
        WAYS
        + """
    lib = lamella.library.Library("aten", "IMPL", owner="a test")
    seen = []
    def kernel(x, y, alpha=1):
        seen.append(alpha)
        return lamella.full(x.shape, 42.0)
    all_are(11, 22)
    handle = lib.impl("add.Tensor", kernel, "cpu")
    all_are(42, 42)
    assert len(seen) == 8 and set(seen) == {1}, seen
    lib.withdraw(handle)
    all_are(11, 22)
    assert len(seen) == 8
    """
    )


def test_two_owners_stack_and_withdraw_in_any_order(stranger):
    """The newest kernel serves; after its withdrawal, the older one does; they can be withdrawn in either order."""
    stranger.run(
        WAYS
        + """
    from tiny_stranger import native
    from lamella import _C

    lib = lamella.library.Library("aten", "IMPL", owner="another")
    seven = lambda x, y, alpha=1: lamella.full(x.shape, 7.0)
    native.stack(b"aten::add.Tensor")
    handle = lib.impl("add.Tensor", seven, "cpu")
    all_are(7, 7)
    lib.withdraw(handle)
    all_are(42, 42)
    handle = lib.impl("add.Tensor", seven, "cpu")
    native.withdraw()  # the one below goes first
    all_are(7, 7)
    lib.close()
    all_are(11, 22)
    """
    )


@pytest.mark.parametrize("name", ["mul", "sub"])
def test_another_operator_is_untouched(stranger, name):
    stranger.run(
        """
        import operator, sys
        import lamella
        from tiny_stranger import native

        native.stack(b"aten::add.Tensor")
        f = getattr(operator, sys.argv[1])
        assert f(lamella.tensor([5.0]), lamella.tensor([3.0])).item() == f(5.0, 3.0)
        """,
        name,
    )


def test_a_crowd_of_layers_and_backends(stranger):
    """60 layers and 300 backends work together, and old tables, which are never freed, stay within 32 MB."""
    out = stranger.run("""
        import lamella
        from lamella import _C
        from tiny_stranger import native

        a = lamella.ones(2, 2)
        def work():  # calls fill tables, so that every registration replaces some
            return ((a + 1) * a - a).sum().item(), (a @ a).sum().item()

        wanted = work()
        taken = {bit for bit, _, _ in _C._layers()}
        bits = []
        anchors = {name: range(low, high + 1) for name, low, high in _C._anchors()}
        for i in range(60 - len(taken)):
            free = [n for n, band in anchors.items() if any(b not in taken for b in band)]
            bit = native.add_layer(b"layer%d" % i, free[0].encode())
            assert bit in anchors[free[0]] and bit not in taken, (bit, native.error())
            taken.add(bit)
            bits.append(bit)
            assert work() == wanted
        for i in range(300):
            assert native.add_backend(b"device%d" % i, i) == 0, native.error()
            assert work() == wanted
        assert len(_C._layers()) >= 60 and len(_C._backends()) >= 302

        native.include(sum(1 << b for b in bits))
        assert work() == wanted
        assert all(native.layer_calls(i) >= 5 for i in range(len(bits)))
        for i in range(300):
            x = lamella.ones(1).to(f"device{i}")
            assert (x + x).to("cpu").item() == i, i
        print(_C._retained_bytes())
        native.close_all()
        assert work() == wanted
        with fails((RuntimeError, NotImplementedError), "device299", "withdrawn"):
            x + x
    """)
    kept = int(out.split()[-1])
    print(f"old snapshots keep {kept:,} bytes")
    assert 0 < kept <= 32 * 2**20


def test_a_taken_device_name(stranger):
    stranger.run("""
        import lamella
        from tiny_stranger import native

        assert native.add_backend(b"cpu", 1) != 0
        message = native.error().decode()
        assert "cpu" in message and "taken" in message and "stranger.cpp" in message, message
    """)
