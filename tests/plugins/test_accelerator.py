"""The accelerator and the modules of devices with installed plugins, and the block that chooses a device."""

from pathlib import Path

import lamella
import pytest
from children import OWN_PLUGINS
from lamella import _devices
from threads import in_threads

TESTS = str(Path(__file__).resolve().parents[1])


def test_installed_devices(guest):
    guest.run("""
        import lamella
        state = lambda name: next(p.state for p in lamella.plugins.status() if p.name == name)
        x = lamella.ones(2)
        assert not x.is_bank and not x.is_numpy and x.is_cpu  # known before they are loaded
        import lamella.bank
        from lamella import bank
        assert state("bank") == "found" and "bank" in lamella.__all__ and "bank" in dir(lamella)
        assert bank.is_available() and bank.device_count() == 2 and state("bank") == "loaded"
        assert state("numpy") == "found" and lamella.accelerator.current_accelerator().type == "bank"
        assert lamella.ones(1).bank(1).is_bank and not lamella.ones(1).bank(1).is_numpy
        with lamella.device("numpy"):  # the default device is it, where it is none of the host
            assert lamella.accelerator.current_accelerator().type == "numpy" and lamella.ones(1).is_numpy
            assert lamella.accelerator.device_count() == 1
            lamella.accelerator.synchronize()
    """)


def test_a_program_for_any_accelerator(guest):
    """The program uses bank's streams, events, memory and random numbers without naming bank."""
    guest.run("""
        import lamella
        acc = lamella.accelerator
        device = acc.current_accelerator()
        acc.set_device_index(1)
        with lamella.device(device.type):
            x = lamella.rand(500, 500)
        assert str(x.device) == "bank:1"
        side, start, end = lamella.Stream(), lamella.Event(enable_timing=True), lamella.Event(enable_timing=True)
        side.wait_stream(acc.current_stream())
        with side:
            start.record()
            lamella.ops.bank.delay(x, 30_000)
            y = x + 1
            end.record()
            assert not side.query() and not end.query()
        acc.current_stream().wait_event(end)
        z = (y * 2).to("cpu")
        assert end.query() and 25 < start.elapsed_time(end) < 30_000, start.elapsed_time(end)
        assert lamella.equal(z, (x.to("cpu") + 1) * 2)
        before = acc.memory_allocated()
        acc.reset_peak_memory_stats()
        big = lamella.empty(1000, 1000, device="bank")
        assert acc.memory_allocated() - before == acc.max_memory_allocated() - before >= 4_000_000
        del big
        assert acc.memory_allocated() == before and acc.max_memory_allocated() - before >= 4_000_000
        assert acc.max_memory_reserved() >= acc.memory_reserved() >= before
        acc.empty_cache()
        acc.manual_seed_all(7)
        a = lamella.rand(5, device="bank:0")
        acc.manual_seed_all(7)
        assert lamella.equal(a.to("cpu"), lamella.rand(5, device="bank:0").to("cpu"))
    """)


def test_names_of_a_backend(host, packages):
    """A backend adds functions to its module and replaces common ones; their first use loads the backend."""
    packages(
        "loom",
        f"""
        import sys
        from lamella.plugins import hookimpl

        sys.path.append({TESTS!r})
        from heaps import Heap

        @hookimpl
        def register(ctx):
            ctx.library("loom").register_backend("loom", Heap())
            names = {{"shuttle": lambda: "goes", "get_device_name": lambda device=None: "A loom"}}
            ctx.contribute("lamella.loom", names)
            for wrong in ({{"no name": 1}}, {{"shuttle": 2}}):
                try:
                    ctx.contribute("lamella.loom", wrong)
                except (ValueError, RuntimeError) as error:
                    print(error)
        """,
        group="lamella.backends",
    )
    packages(
        "idle",
        """
        from lamella.plugins import hookimpl

        @hookimpl
        def register(ctx):
            ctx.contribute("device loom", {"thing": 1})
        """,
    )
    said = host.run("""
        import lamella
        assert not lamella.ones(1).is_loom
        assert lamella.loom.shuttle() == "goes" and lamella.loom.get_device_name() == "A loom"
        assert lamella.loom.memory_stats() == {} and lamella.loom.memory_allocated() == 0
        from lamella.loom import shuttle, synchronize
        synchronize()
        with lamella.loom.Stream() as s:  # a device without streams of its own has one
            assert s.query() and s == lamella.loom.current_stream()
        event = lamella.loom.Event(enable_timing=True)
        event.record()
        assert event.query() and event.elapsed_time(event) == 0
        try:
            lamella.loom.set_device(1)
        except RuntimeError as error:
            print(error)
        try:
            lamella.loom.mem_get_info()
        except RuntimeError as error:
            print(error)
        print(lamella.plugins.status()[-1].reason or [p.reason for p in lamella.plugins.status() if p.name == "idle"])
    """)
    for text in (
        "plugin 'loom': lamella.loom.no name is no identifier",
        "lamella.loom.shuttle is taken by plugin 'loom'; plugin 'loom' cannot bring it too",
        "device 'loom:1' does not exist; there are 1",
        "get_memory_info: device 'loom' does not say how much memory it has",
        "contribute: there is no place 'device loom'",
    ):
        assert text in said, said


def test_a_broken_backend_is_no_accelerator(host, packages):
    packages("torn", "raise OSError('no driver')", group="lamella.backends", manifest='{"priority": 9}')
    host.run(
        """
        import lamella
        assert lamella.accelerator.current_accelerator() is None and not lamella.accelerator.is_available()
        assert not lamella.torn.is_available() and not lamella.ones(1).is_torn
        for f in (lambda: lamella.torn.synchronize(), lambda: lamella.ones(1).torn()):
            with fails(RuntimeError, "no driver"):
                f()
    """,
        LAMELLA_PLUGINS=f"{OWN_PLUGINS},torn",
    )


def test_without_an_accelerator(monkeypatch):
    accelerator = lamella.accelerator
    monkeypatch.setattr(_devices, "accelerators", list)  # as if nothing were installed
    assert accelerator.current_accelerator() is None and accelerator.device_count() == 0
    for call in (accelerator.synchronize, accelerator.current_stream, lamella.Stream, lambda: lamella.Event(0)):
        with pytest.raises(RuntimeError, match="there is no accelerator: no installed plugin brings a device"):
            call()


def test_the_block_of_a_device():
    meta = lamella.device("meta")
    with meta as entered:
        assert entered is meta and lamella.ones(1).device == meta == lamella.tensor([1]).device
        with lamella.device("cpu"), meta, meta:
            assert lamella.zeros(1).is_meta
        assert lamella.rand(2).device == meta
        seen = []
        in_threads(lambda: seen.append(lamella.ones(1).device.type))
        assert seen == ["cpu"]  # the block applies to its own thread
        lamella.set_default_device("cpu")
        assert lamella.ones(1).is_cpu
    assert lamella.ones(1).is_cpu and not lamella.ones(1).is_meta
    with pytest.raises(ZeroDivisionError), meta:
        raise ZeroDivisionError
    assert lamella.ones(1).is_cpu
    errors = []
    in_threads(lambda: errors.append(pytest.raises(RuntimeError, meta.__exit__)))
    assert "has entered no device" in str(errors[0].value)


def test_a_backend_does_not_take_a_plugins_name(host, packages):
    """A plugin's name has precedence over a device's module, whichever is found first."""
    packages("communal", "", group="lamella.backends")
    packages(
        "bringer",
        """
        import types
        from lamella.plugins import hookimpl

        @hookimpl
        def register(ctx):
            ctx.contribute("lamella", {"communal": types.ModuleType("lamella_bringer.communal")})
        """,
    )
    host.run("""
        import lamella
        assert lamella.communal.__name__ == "lamella_bringer.communal", lamella.communal
        assert [p.state for p in lamella.plugins.status() if p.name == "bringer"] == ["loaded"]
        assert not lamella.ones(1).is_communal
    """)


def test_the_module_of_a_device_comes_back(host, packages):
    packages("shared", "", group="lamella.backends")
    packages(
        "brief",
        """
        from lamella.plugins import hookimpl

        @hookimpl
        def register(ctx):
            ctx.contribute("lamella", {"shared": 3})
            raise OSError("after that")
        """,
    )
    host.run("""
        import lamella
        import lamella.shared
        assert lamella.shared.device_count() == 0 and lamella.__all__.count("shared") == 1
    """)
