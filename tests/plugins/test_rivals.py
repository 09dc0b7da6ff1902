"""Two distributions that bring one name: neither takes it silently, and the user can choose."""

from pathlib import Path

import pytest
from test_faults import rows

TESTS = str(Path(__file__).resolve().parents[1])

DEVICE = """
    import sys
    from lamella.plugins import hookimpl

    OWNER = "{owner}"
    sys.path.append({tests!r})
    from heaps import Heap

    @hookimpl
    def register(ctx):
        library = ctx.library("{owner}")
        library.register_backend("{device}", Heap())
"""


@pytest.fixture
def rivals(packages):
    """Makes packages whose entry points have the same name."""

    def make(device, *owners, group="lamella.backends", **manifests):
        for owner in owners:
            package = packages(
                owner,
                DEVICE.format(owner=owner, device=device, tests=TESTS),
                group=group,
                manifest=manifests.get(owner),
            )
            info = next(package.parent.glob(f"{package.name}-*.dist-info"))
            (info / "entry_points.txt").write_text(f"[{group}]\n{device} = {package.name}\n")

    return make


def test_two_vendors_of_one_device(host, rivals):
    rivals("loom", "weavers", "knitters")
    host.run("""
        import lamella

        for _ in range(2):
            with fails(RuntimeError, "tiny-weavers 1.2", "tiny-knitters 1.2", "LAMELLA_PLUGINS=loom@tiny-"):
                lamella.ones(1, device="loom")
    """)


@pytest.mark.parametrize("owner", ["weavers", "knitters"])
def test_the_user_chooses(host, rivals, owner):
    rivals("loom", "weavers", "knitters")
    host.run(
        f"""
        import lamella, sys

        assert lamella.ones(2, device="loom").to("cpu").tolist() == [1, 1]
        assert "tiny_{owner}" in sys.modules and len([m for m in sys.modules if m.startswith("tiny_")]) == 1
        assert [p.state for p in lamella.plugins.status() if p.name == "autograd"] == ["loaded"]
    """,
        LAMELLA_PLUGINS=f"loom@Tiny_{owner}",
    )


def test_a_broken_one_leaves_the_name_to_the_other(host, rivals):
    rivals("loom", "weavers", "knitters", knitters='{"requires_lamella": ">=99"}')
    host.run("""
        import lamella

        assert lamella.ones(2, device="loom").to("cpu").tolist() == [1, 1]
        states = {p.distribution: (p.state, p.reason) for p in lamella.plugins.status() if p.name == "loom"}
        assert states["tiny-weavers"] == ("loaded", ""), states
        assert states["tiny-knitters"][0] == "refused" and ">=99" in states["tiny-knitters"][1], states
    """)


def test_lamella_s_own_device_cannot_be_replaced(host, rivals):
    rivals("cpu", "thief", thief='{"host": true}')
    host.run("""
        import lamella, sys

        assert (lamella.ones(2) + 1).tolist() == [2, 2] and "tiny_thief" not in sys.modules
        states = {p.distribution: (p.state, p.reason) for p in lamella.plugins.status() if p.name == "cpu"}
        assert states["lamella"] == ("loaded", ""), states
        assert states["tiny-thief"][0] == "refused" and "tiny-thief 1.2" in states["tiny-thief"][1], states
    """)
    assert "LAMELLA_PLUGINS=cpu@tiny-thief" in host.table()


def test_lamella_s_own_plugin_cannot_be_replaced(host, packages):
    package = packages("thief", "raise SystemExit(1)\n")
    entry = next(package.parent.glob("*.dist-info")) / "entry_points.txt"
    entry.write_text("[lamella.plugins]\nautograd = tiny_thief\n")
    host.run("""
        import lamella, sys

        lamella.ones(2, requires_grad=True).sum().backward()
        assert "tiny_thief" not in sys.modules
    """)


def test_a_hook_that_registers_another_device_is_set_aside(host, packages):
    packages("loom", DEVICE.format(owner="loom", device="cloth", tests=TESTS), group="lamella.backends")
    host.run("""
        import lamella

        with fails(RuntimeError, "must register the device of its entry point, 'loom'; it registered 'cloth'"):
            lamella.ones(1, device="loom")
        assert "cloth" not in [b[0] for b in lamella._C._backends()]
    """)


def test_a_plugin_that_ends_the_process_is_set_aside(host, packages):
    packages("quitter", "raise SystemExit(3)\n")
    packages(
        "late",
        "import sys\nfrom lamella.plugins import hookimpl\n\n@hookimpl\ndef register(ctx):\n    sys.exit('now')\n",
    )
    host.run("import lamella; assert (lamella.ones(2) + 1).tolist() == [2, 2]")
    shown = rows(host.table())
    assert shown["quitter"] == ("failed", "SystemExit: 3") and shown["late"] == ("failed", "SystemExit: now")
