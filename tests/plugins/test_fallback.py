"""The counted fallback to the host, and the backend in Python beside bank and cpu in one process."""

SETUP = """
    import lamella

    lib = lamella.library.Library("far", "DEF", owner="a test")
    def host_only(schema, kernel, **forms):
        lib.define(schema, **forms)
        lib.impl(schema.partition("(")[0], kernel, "cpu")
        return getattr(lamella.ops.far, schema.partition("(")[0].partition(".")[0])
    def counts():
        return {op: (calls, moved) for _, op, calls, moved, _, _ in lamella.fallback_counts()}
    x = lamella.ones(2, 3, device="bank:1")
"""


def test_counted_and_listed(guest):
    guest.run(
        SETUP
        + """
    from lamella import cli
    double = host_only("double(Tensor self) -> Tensor", lambda t: t * 2)
    for _ in range(3):
        assert double(x).device == x.device and double(x).tolist() == [[2.0] * 3] * 2
    ((device, op, calls, moved, seconds, reason),) = lamella.fallback_counts()
    assert (device, op, calls, moved) == ("bank", "far::double", 6, 6 * 48) and seconds > 0 and "bank" in reason
    assert "far::double: 6 calls, 288 bytes" in cli.plugins()
    lamella.reset_fallback_counts()
    assert lamella.fallback_counts() == []
    """
    )


def test_an_error_where_it_is_forbidden(guest):
    guest.run(
        SETUP
        + """
    double = host_only("double(Tensor self) -> Tensor", lambda t: t * 2)
    lamella.set_fallback("error")
    with fails(NotImplementedError, "far::double", "bank:1", "set_fallback"):
        double(x)
    assert counts() == {} and x.tolist() == [[1.0] * 3] * 2
    lamella.set_fallback("allow")
    assert double(x).sum().item() == 12
    """
    )


def test_written_arguments_lists_and_several_results(guest):
    guest.run(
        SETUP
        + """
    def fill(t):
        t.fill_(5)
        return t
    five = host_only("five_(Tensor(a!) self) -> Tensor(a!)", fill)
    assert five(x) is x and x.tolist() == [[5.0] * 3] * 2
    total = host_only("total(Tensor[] tensors) -> Tensor", lambda ts: ts[0] + ts[1])
    assert total([x, x]).tolist() == [[10.0] * 3] * 2 and total([x, x]).device == x.device
    pair = host_only("pair(Tensor self) -> (Tensor, Tensor)", lambda t: (t + 1, t - 1))
    up, down = pair(x)
    assert (up.device, down.device) == (x.device, x.device) and down.tolist() == [[4.0] * 3] * 2
    bad = host_only("bad(Tensor self) -> Tensor", lambda t: 1 // 0)
    with fails(ZeroDivisionError):
        bad(x)
    assert set(counts()) == {"far::five_", "far::total", "far::pair"} and x.tolist() == [[5.0] * 3] * 2
    """
    )


def test_all_that_is_written_comes_back(guest):
    """Written arguments that are no results, repeated tensors and lists are copied back; expanded ones are refused."""
    guest.run(
        SETUP
        + """
    bump = host_only("bump_(Tensor(a!) self) -> ()", lambda t: (t.add_(1), None)[1])
    bump(x)
    assert x.tolist() == [[2.0] * 3] * 2
    split = host_only(
        "split_(Tensor(a!) self, Tensor(b!) other) -> Tensor", lambda t, o: (t.add_(1), o.add_(1), t + o)[2]
    )
    y = lamella.zeros(2, 3, device="bank:1")
    assert split(x, y).tolist() == [[4.0] * 3] * 2
    assert x.tolist() == [[3.0] * 3] * 2 and y.tolist() == [[1.0] * 3] * 2
    assert split(x, x).tolist() == [[10.0] * 3] * 2 and x.tolist() == [[5.0] * 3] * 2
    each = host_only("each_(Tensor(a!)[] tensors) -> ()", lambda ts: [t.add_(1) for t in ts] and None)
    each([x, y])
    assert x.tolist() == [[6.0] * 3] * 2 and y.tolist() == [[2.0] * 3] * 2
    wide = lamella.zeros(1, 3, device="bank:1").expand(2, 3)
    with fails(RuntimeError, "bump_", "self"):
        bump(wide)
    """
    )


def test_out_and_in_place_forms(guest):
    guest.run(
        SETUP
        + """
    triple = host_only("triple(Tensor self) -> Tensor", lambda t: t * 3, out=True, inplace=True)
    for out in (lamella.empty(2, 3, device="bank:1"), lamella.empty(0, device="bank:1"),
                lamella.zeros(2, 6, device="bank:1")[:, ::2],
                lamella.empty(2, 3, dtype=lamella.float64, device="bank:1")):
        kind = out.dtype
        assert triple(x, out=out) is out and out.device == x.device and out.dtype == kind
        assert out.tolist() == [[3.0] * 3] * 2
    with fails(RuntimeError, "triple", "bank:1", "cpu"):
        triple(x, out=lamella.empty(2, 3))
    version = x._version
    assert lamella.ops.far.triple_(x) is x and x.tolist() == [[3.0] * 3] * 2 and x._version == version + 1
    assert set(counts()) == {"far::triple", "far::triple_"} or set(counts()) == {"far::triple"}
    """
    )


def test_results_whose_size_the_data_give(guest):
    guest.run(
        SETUP
        + """
    large = host_only("large(Tensor self) -> Tensor", lambda t: t[t > 1])
    x[1, 2] = 5
    assert large(x).tolist() == [5] and large(x).device == x.device and large(x - 9).shape == (0,)
    with lamella.library.kernels_disabled(["aten::nonzero"], "bank"):
        found = (x > 1).nonzero()
        assert found.device == x.device and found.tolist() == [[1, 2]]
        assert x.masked_select(x > 1).tolist() == [5]
    assert counts()["aten::nonzero"][0] == 2 and counts()["far::large"][0] == 3
    """
    )


def test_a_device_as_argument(guest):
    guest.run(
        SETUP
        + """
    seen = []
    def make(n, device=None):
        seen.append(str(device))
        return lamella.arange(n, device=device)
    made = host_only("made(int n, *, Device? device=None) -> Tensor", make)
    y = made(3, device="bank:1")
    assert y.device == x.device and y.tolist() == [0, 1, 2] and seen == ["cpu"], (y, seen)
    assert set(counts()) == {"far::made"}
    """
    )


def test_an_exception_inside_leaves_everything(guest):
    guest.run(
        SETUP
        + """
    def spoil(t, message):
        t.fill_(9)
        raise KeyError(message)
    bad = host_only("spoil_(Tensor(a!) self, str message) -> Tensor(a!)", spoil)
    version, live = x._version, lamella._C._memory_stats("bank")["live_bytes"]
    try:
        bad(x, "why")
    except KeyError as error:
        assert error.args == ("why",)
    else:
        raise SystemExit("no error")
    assert x.tolist() == [[1.0] * 3] * 2 and x._version == version and counts() == {}
    assert lamella._C._memory_stats("bank")["live_bytes"] == live
    nothing = host_only("nothing(Tensor self) -> Tensor", lambda t: None)
    with fails((TypeError, RuntimeError), "nothing"):
        nothing(x)
    """
    )


def test_a_backend_in_python_beside_the_others(guest):
    guest.run("""
        import itertools
        import numpy as np
        import lamella

        a = np.arange(6, dtype="float32").reshape(2, 3)
        places = ["cpu", "bank:0", "numpy"]
        for one, other in itertools.product(places, places):
            x = lamella.from_numpy(a.copy()).to(one)
            assert x.t().to(other).tolist() == a.T.tolist(), (one, other)
        x = lamella.from_numpy(a).to("numpy")
        assert (x + x.t().t()).tolist() == (a * 2).tolist() and (x @ x.t()).tolist() == (a @ a.T).tolist()
        x[0] = 7
        assert x.exp().neg().device.type == "numpy" and x.tolist() == [[7, 7, 7], [3, 4, 5]]
        assert not lamella.fallback_counts(), lamella.fallback_counts()
        m = lamella.tensor([0, 1, 2, 255], dtype=lamella.uint8).view(lamella.bool).to("numpy")
        truth = [False, True, True, True]  # numpy's functions expect bytes 0 and 1
        assert m.float().tolist() == [0, 1, 1, 1] and m.maximum(~m).tolist() == [True] * 4 and (m < True).tolist()[0]
        assert (m + m).tolist() == truth and (m < lamella.ones_like(m)).tolist() == [not t for t in truth]
        lamella.reset_fallback_counts()
        assert x.sin().device.type == "numpy"
        assert [f[:2] for f in lamella.fallback_counts()] == [("numpy", "aten::sin")]
        import gc
        import lamella_numpy
        del x, m
        held = [o.blocks for o in gc.get_objects() if type(o) is lamella_numpy.Memory]
        assert held == [{}], held
    """)


def test_a_failing_backend_in_python(guest):
    """The allocator or copies raise, callables are wrong, a name is taken, the device is withdrawn while in use."""
    guest.run("""
        import ctypes
        import lamella

        blocks, broken = {}, set()
        def check(what):
            if what in broken:
                raise MemoryError(what)
        class Frail(lamella.library.Backend):
            def alloc(self, nbytes, index, stream):
                check("alloc")
                block = ctypes.create_string_buffer(nbytes)
                blocks[ctypes.addressof(block)] = block
                return ctypes.addressof(block)
            def free(self, address, nbytes, index):
                blocks.pop(address)
            def copy_from_host(self, to, source, nbytes, index, non_blocking):
                if "copy" in broken:
                    ctypes.memmove(to, source, nbytes // 2)
                check("copy")
                ctypes.memmove(to, source, nbytes)
            copy_to_host = copy_from_host
        def refused(kind, word, f):
            with fails(kind, word):
                f()
        lib = lamella.library.Library("aten", "IMPL", owner="a test")
        def make(**other):
            return lib.register_backend("frail", type("Made", (Frail,), other)())
        refused(TypeError, "backend.alloc'", lambda: make(alloc=3))
        refused(ValueError, "device_count", lambda: make(device_count=0))
        handle = make()
        refused(RuntimeError, "frail", make)
        host = lamella.ones(100)
        x = host.to("frail")
        broken.add("alloc")
        refused(lamella.OutOfMemoryError, "alloc", lambda: host.to("frail"))
        broken.clear()
        broken.add("copy")
        refused(MemoryError, "copy", lambda: host.to("frail"))
        refused(MemoryError, "copy", lambda: x.to("cpu"))
        broken.clear()
        assert host.tolist() == x.tolist() == [1.0] * 100 and len(blocks) == 1
        lib.withdraw(handle)
        for f in (lambda: x.to("cpu"), lambda: x + 1, lambda: x.tolist(), lambda: lamella.ones(1, device="frail")):
            refused((RuntimeError, NotImplementedError), "frail", f)
        del x
        assert not blocks
    """)
