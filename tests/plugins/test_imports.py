"""A plugin's package may be imported before lamella, after it, or by it: the plugin is loaded whole in each order."""

import textwrap

import pytest

ONE_FILE = """
    import lamella
    from lamella.plugins import hookimpl

    @hookimpl
    def register(ctx):
        library = ctx.library("sundry", "DEF")
        library.define("bump(Tensor self) -> Tensor")
        library.impl("bump", bump, "composite")

    def bump(x):
        return x + 1
"""

ORDERS = {
    "the package first": "import tiny_sundry\nimport lamella",
    "lamella first": "import lamella\nimport tiny_sundry",
    "the package alone": "import tiny_sundry\nlamella = tiny_sundry.lamella",
    "lamella alone": "import lamella",
    "a module of lamella first": "import lamella.nn.functional\nimport tiny_sundry\nimport lamella",
    "in a thread": "import threading\nt = threading.Thread(target=__import__, args=('tiny_sundry',))\n"
    "t.start()\nimport lamella\nt.join()",
}


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_of_imports(host, packages, order):
    packages("sundry", ONE_FILE)
    host.run(
        ORDERS[order]
        + """
assert lamella.ops.sundry.bump(lamella.ones(2)).tolist() == [2, 2]
(plugin,) = [p for p in lamella.plugins.status() if p.name == "sundry"]
assert plugin.state == "loaded" and plugin.reason == "", plugin
"""
    )


@pytest.mark.parametrize("first", ["tiny_sundry", "lamella"])
def test_a_module_beside_the_package_s_own(host, packages, first):
    """The entry point names a module inside a package; that module imports from the package's own file."""
    package = packages("sundry", "import lamella\nSIZE = 3\n")
    (package / "plugin.py").write_text(
        "from tiny_sundry import SIZE\n" + "\n".join(line[4:] for line in ONE_FILE.split("\n"))
    )
    entry = next(package.parent.glob("*.dist-info")) / "entry_points.txt"
    entry.write_text("[lamella.plugins]\nsundry = tiny_sundry.plugin\n")
    host.run(f"""
        import {first}
        import tiny_sundry, lamella

        assert lamella.ops.sundry.bump(lamella.ones(2)).tolist() == [2, 2]
    """)


def test_operators_that_are_used_too_early_say_so(host, packages):
    """During the import of its module the hook has not run: the error of the first wrong step says so."""
    packages("sundry", ONE_FILE + "\n    early = lamella.ops.sundry.bump\n")
    host.run("""
        try:
            import tiny_sundry
        except AttributeError as error:
            words = ["no operator sundry::bump", "plugin 'sundry'", "the import of tiny_sundry is not done"]
            assert [w for w in words if w not in str(error)] == [], error
        else:
            raise SystemExit("no error")
        import lamella

        (plugin,) = [p for p in lamella.plugins.status() if p.name == "sundry"]
        why = "the import of tiny_sundry, which imported lamella, failed"
        assert plugin.state == "found" and why in plugin.reason, plugin
        assert (lamella.ones(2) + 1).tolist() == [2, 2]
    """)


def test_a_plugin_that_is_set_aside_is_named_where_its_operator_is_missing(host, packages):
    packages("sundry", 'raise OSError("on fire")\n')
    host.run("""
        import lamella

        try:
            lamella.ops.sundry.bump
        except AttributeError as error:
            words = ["no operator sundry::bump", "'sundry' (tiny-sundry 1.2)", "failed to load: OSError: on fire"]
            assert [w for w in words if w not in str(error)] == [], error
        else:
            raise SystemExit("no error")
    """)


def test_a_plugin_of_another_package_that_is_half_made(host, packages):
    packages("plugin", "from tiny_sundry import SIZE\n" + textwrap.dedent(ONE_FILE))
    packages("sundry", "import lamella\nSIZE = 3\n", group="unused")
    host.run("""
        import tiny_sundry, lamella

        assert lamella.ops.sundry.bump(lamella.ones(2)).tolist() == [2, 2]
    """)


def test_a_hook_that_raises_is_called_once(host, packages):
    code = """
        import lamella
        from lamella.plugins import hookimpl

        @hookimpl
        def register(ctx):
            print("called")
            raise OSError("no driver")
    """
    package = packages("sundry", "import lamella\n")
    (package / "plugin.py").write_text(textwrap.dedent(code))
    entry = next(package.parent.glob("*.dist-info")) / "entry_points.txt"
    entry.write_text("[lamella.plugins]\nsundry = tiny_sundry.plugin\n")
    assert host.run("import tiny_sundry, lamella").count("called") == 1


def test_an_attribute_that_was_promised_works_after_a_late_load(host, packages):
    code = ONE_FILE.replace("library = ctx", 'ctx.contribute("copied", {"label": True})\n        library = ctx')
    packages("sundry", code, manifest='{"attributes": ["label"]}')
    host.run("""
        import tiny_sundry, lamella

        x = lamella.ones(2)
        x.label = "a"
        assert x.label == "a"
    """)


def test_two_threads_that_wait_for_each_other_s_locks(host, packages):
    """One thread imports a package while another loads a plugin that imports the same package."""
    packages("sundry", "import time, lamella\ntime.sleep(1)\n" + textwrap.dedent(ONE_FILE))
    packages("loom", "import tiny_sundry\n", group="lamella.backends")
    host.run("""
        import threading, sys, time

        thread = threading.Thread(target=__import__, args=("tiny_sundry",), daemon=True)
        thread.start()
        while "lamella" not in sys.modules:
            time.sleep(0.01)
        import lamella

        try:
            lamella.ones(1, device="loom")
        except RuntimeError as error:
            assert "no hook" in str(error), error
        thread.join(20)
        assert not thread.is_alive()
        assert lamella.ops.sundry.bump(lamella.ones(2)).tolist() == [2, 2]
    """)
