"""Plugins that fail: ``import lamella`` and other plugins still work, and ``lamella plugins`` shows the reason."""

import os
import re

import pytest

GOOD = """
    from lamella.plugins import hookimpl

    seen = []

    @hookimpl
    def register(ctx):
        seen.append(ctx.name)
        ctx.library("good").register_layer("good", lambda call, *a, **k: call(*a, **k), at="profiler")
"""

WORKS = """
    import lamella
    import tiny_good

    assert tiny_good.seen == ["good"], tiny_good.seen
    assert (lamella.ones(2) + 1).tolist() == [2, 2]
"""

HOOK = """
    from lamella.plugins import hookimpl

    @hookimpl
    def register(ctx):
"""


def rows(table):
    """Returns the table of plugins: name → (state, reason)."""
    line = re.compile(r"(\S+) +(backend|plugin) +(\S+ \S+) +(\w+)(?: +([\d.]+))?(?: +(.+))?")
    matches = [line.fullmatch(x) for x in table.split("\n\n")[0].splitlines()[1:]]
    assert None not in matches, table
    return {m[1]: (m[4], m[6] or "") for m in matches}


NEVER = "raise SystemExit(1)\n"  # a module whose import would end the process
TWO = "from lamella.plugins import hookimpl\n\n@hookimpl\ndef register(ctx, more):\n    pass\n"
NO_FILE = HOOK + '        ctx.load_library("/nowhere/libnothing.so")\n'

# name: (code, manifest, expected state, words of the reason)
FAULTS = {
    "raises on import": ('raise OSError("on fire")\n', None, "failed", ["OSError", "on fire"]),
    "a syntax error": ("def broken(:\n", None, "failed", ["SyntaxError"]),
    "a missing dependency": ("import no_such_module\n", None, "failed", ["ModuleNotFoundError", "no_such_module"]),
    "raises while registering": (
        HOOK + '        raise ValueError("a bad day")\n',
        None,
        "failed",
        ["ValueError: a bad day"],
    ),
    "hardware missing": (HOOK + '        raise RuntimeError("no card in slot 3")\n', None, "failed", ["no card"]),
    "no hook": ("register = None\n", None, "failed", ["no hook register"]),
    "a hook with another signature": (TWO, None, "failed", ["more"]),
    "no library file": (NO_FILE, None, "failed", ["/nowhere/libnothing.so"]),
    "a library that is none": (HOOK + "        ctx.load_library(__file__)\n", None, "failed", ["__init__.py"]),
    "too new": (NEVER, '{"requires_lamella": ">=99"}', "refused", [">=99", "this is"]),
    "too old": (NEVER, '{"requires_lamella": "<0.0.1"}', "refused", ["<0.0.1", "this is"]),
    "a range that is none": (NEVER, '{"requires_lamella": "yes"}', "refused", ["yes"]),
    "a manifest that is no JSON": (NEVER, "{", "failed", ["manifest"]),
    "a manifest that is no object": (NEVER, "[1]", "failed", ["manifest", "must hold an object"]),
    "a range of another type": (NEVER, '{"requires_lamella": 3}', "failed", ["manifest", "requires_lamella"]),
    "a priority that is no number": (NEVER, '{"priority": "high"}', "failed", ["priority"]),
}


@pytest.mark.sweep
@pytest.mark.parametrize("fault", FAULTS)
def test_a_plugin_that_fails_is_set_aside(host, packages, fault):
    code, manifest, state, words = FAULTS[fault]
    packages("good", GOOD)
    packages("bad", code, manifest=manifest)
    host.run(WORKS)
    shown = rows(host.table())
    assert shown["good"] == ("loaded", "")
    assert shown["bad"][0] == state, shown
    assert [w for w in words if w not in shown["bad"][1]] == [], shown["bad"]
    assert len(shown["bad"][1]) > 5


@pytest.mark.parametrize("fault", [f for f in FAULTS if f != "a priority that is no number"])
def test_a_backend_that_fails_says_so_when_it_is_named(host, packages, fault):
    """A device's plugin with these faults raises the reason each time the device is named, and not before."""
    code, manifest, state, words = FAULTS[fault]
    packages("good", GOOD)
    packages("bad", code, manifest=manifest, group="lamella.backends")
    host.run(
        WORKS
        + f"""
    state = lambda: next(p.state for p in lamella.plugins.status() if p.name == "bad")
    assert state() in ("found", "failed", "refused"), state()
    for _ in range(2):
        with fails(RuntimeError) as error:
            lamella.ones(1, device="bad")
        words = {words!r} + ["bad", {state!r}]
        assert [w for w in words if w not in str(error)] == [], str(error)
        if {state!r} == "failed" and "manifest" not in words:
            # what the loader says of a library is the whole reason
            assert ("Traceback" in str(error)) is ({fault!r} != "a library that is none"), str(error)
    assert state() == {state!r}
    assert (lamella.ones(2) + 1).tolist() == [2, 2]
    """
    )


def test_a_reason_of_several_lines_stays_in_its_row(host, packages):
    packages("bad", 'raise OSError("the first line\\nand the second")\n')
    shown = rows(host.table())
    assert shown["bad"][0] == "failed"
    assert "the first line" in shown["bad"][1] and "and the second" in shown["bad"][1]


def test_the_reason_keeps_its_traceback(host, packages):
    packages("bad", "def deep():\n    raise OSError('deep inside')\n\ndeep()\n")
    host.run("""
        import lamella

        bad = next(p for p in lamella.plugins.status() if p.name == "bad")
        assert bad.distribution == "tiny-bad" and bad.version == "1.2"
        assert "in deep" in bad.traceback and "tiny_bad" in bad.traceback, bad.traceback
        for call in (lambda: lamella.plugins.load("bad"), lambda: lamella.plugins.load("bad")):
            with fails(RuntimeError, "deep inside", "in deep"):
                call()
        try:
            lamella.plugins.load("worse")
        except LookupError as error:
            assert "worse" in str(error)
    """)


def test_what_a_failed_plugin_had_registered_is_taken_back(host, packages):
    """The failed plugin is not used, and none of its registrations may stay in the tables."""
    code = """
        import lamella
        from lamella.plugins import hookimpl

        @hookimpl
        def register(ctx):
            lib = ctx.library("aten")
            lib.impl("add.Tensor", lambda x, y, alpha=1: x, "cpu")
            lib.register_layer("half", lambda call, *a, **k: call(*a, **k))
            raise RuntimeError("half way")
    """
    packages("half", code)
    host.run("""
        import lamella
        from lamella import _C

        assert next(p.state for p in lamella.plugins.status() if p.name == "half") == "failed"
        assert (lamella.ones(1) + lamella.ones(1)).item() == 2
        assert "half" not in [name for _, name, _ in _C._layers()]
    """)


def test_what_a_failed_native_library_had_registered_is_taken_back(host, packages, failing_library):
    """The library's first block succeeds and puts a kernel over add; its second block fails."""
    packages("half", HOOK + f"        ctx.load_library({str(failing_library)!r})\n")
    host.run("""
        import lamella

        half = next(p for p in lamella.plugins.status() if p.name == "half")
        assert half.state == "failed" and "no_such_operator" in half.reason, half
        assert (lamella.ones(1) + lamella.ones(1)).item() == 2
    """)


def layer(name, **wishes):
    return f"""
        from lamella.plugins import hookimpl

        @hookimpl
        def register(ctx):
            ctx.library("{name}").register_layer("{name}", lambda call, *a, **k: call(*a, **k), **{wishes!r})
    """


def test_a_cycle_of_wishes_names_both(host, packages):
    packages("good", GOOD)
    packages("egg", layer("egg", outside=("hen",)))
    packages("hen", layer("hen", outside=("egg",)))
    host.run(WORKS)
    shown = rows(host.table())
    assert sorted(shown[n][0] for n in ("egg", "hen")) == ["failed", "loaded"]
    reason = next(shown[n][1] for n in ("egg", "hen") if shown[n][0] == "failed")
    assert "egg" in reason and "hen" in reason and "contradict" in reason


def test_a_longer_cycle_names_its_members(host, packages):
    packages("a1", layer("a1", outside=("a2",)))
    packages("a2", layer("a2", outside=("a3",)))
    packages("a3", layer("a3", outside=("a1",)))
    host.run("import lamella; assert (lamella.ones(2) + 1).tolist() == [2, 2]")
    shown = rows(host.table())
    failed = [n for n in ("a1", "a2", "a3") if shown[n][0] == "failed"]
    assert len(failed) == 1, shown
    assert [n for n in ("a1", "a2", "a3") if n not in shown[failed[0]][1]] == [], shown[failed[0]]


def test_a_wish_against_an_anchor(host, packages):
    packages("torn", layer("torn", at="profiler", inside=("autograd",)))
    shown = rows(host.table())
    assert shown["torn"][0] == "failed"
    assert [w for w in ("torn", "profiler", "autograd") if w not in shown["torn"][1]] == []


def test_an_anchor_that_is_none(host, packages):
    packages("lost", layer("lost", at="nowhere"))
    assert rows(host.table())["lost"][0] == "failed"
    assert "nowhere" in rows(host.table())["lost"][1] and "profiler" in rows(host.table())["lost"][1]


def test_two_owners_of_one_layers_name(host, packages):
    packages("one", layer("same"))
    packages("two", layer("same"))
    shown = rows(host.table())
    assert (shown["one"][0], shown["two"][0]) == ("loaded", "failed")
    assert "one" in shown["two"][1] and "two" in shown["two"][1] and "same" in shown["two"][1]


def test_two_owners_of_one_operator(host, packages):
    for name in ("one", "two"):
        packages(name, HOOK + '        ctx.library("shared").define("f(Tensor self) -> Tensor")\n')
    shown = rows(host.table())
    assert (shown["one"][0], shown["two"][0]) == ("loaded", "failed")
    assert [w for w in ("shared::f", "one", "two") if w not in shown["two"][1]] == []


def test_a_forked_child(host, packages):
    """A child forked after loading keeps its plugins, switches layers of its own, and loads a device by itself."""
    packages("good", GOOD)
    packages("late", HOOK + '        raise RuntimeError("not here")\n', group="lamella.backends")
    host.run("""
        import os
        import lamella
        import tiny_good

        lamella.set_num_threads(2)
        a = lamella.ones(1500, 1500)
        wanted = (a + a).sum().item()
        pid = os.fork()
        if pid == 0:
            try:
                seen = []
                handler = lambda call, *x, **k: seen.append(call.name) or call(*x, **k)
                layer = lamella.library.register_layer("child", handler)
                with layer.on():
                    assert (a + a).sum().item() == wanted
                assert seen == ["aten::add", "aten::sum", "aten::item"], seen
                assert tiny_good.seen == ["good"]
                try:
                    lamella.ones(1, device="late")
                except RuntimeError as error:
                    assert "not here" in str(error)
                assert [p.state for p in lamella.plugins.status() if p.name == "late"] == ["failed"]
            except BaseException:
                import traceback
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert [p.state for p in lamella.plugins.status() if p.name == "late"] == ["found"]
        assert (a + a).sum().item() == wanted
    """)


def test_a_second_thread_that_loads_at_once(host, packages):
    """Eight threads name a slow device together: it is registered once, and all of them wait for it."""
    code = """
        import threading, time
        from lamella.plugins import hookimpl

        registered = []

        @hookimpl
        def register(ctx):
            time.sleep(0.3)
            registered.append(threading.get_ident())
            raise RuntimeError("tried once")
    """
    packages("slow", code, group="lamella.backends")
    host.run("""
        import threading
        import lamella

        barrier, messages = threading.Barrier(8), []
        def work():
            barrier.wait()
            try:
                lamella.ones(1, device="slow")
            except RuntimeError as error:
                messages.append(str(error))
        workers = [threading.Thread(target=work) for _ in range(8)]
        for w in workers: w.start()
        for w in workers: w.join(60)
        assert not any(w.is_alive() for w in workers), "a deadlock"
        import tiny_slow
        assert len(tiny_slow.registered) == 1
        assert len(messages) == 8 and all("tried once" in m for m in messages), messages
    """)


def test_two_threads_import_lamella_at_once(host, packages):
    packages("good", GOOD)
    host.run("""
        import threading

        barrier, found = threading.Barrier(4), []
        def work():
            barrier.wait()
            import lamella
            found.append((lamella.ones(2) + 1).tolist())
        workers = [threading.Thread(target=work) for _ in range(4)]
        for w in workers: w.start()
        for w in workers: w.join(60)
        assert not any(w.is_alive() for w in workers), "a deadlock"
        assert found == [[2, 2]] * 4, found
        import tiny_good
        assert tiny_good.seen == ["good"]
    """)


def test_a_plugin_that_starts_a_thread_which_uses_lamella(host, packages):
    """The plugin waits for its thread, so the thread must not wait for the plugin's loading."""
    packages(
        "threads",
        """
        import threading
        import lamella
        from lamella.plugins import hookimpl

        answers = []

        @hookimpl
        def register(ctx):
            worker = threading.Thread(target=lambda: answers.append((lamella.ones(1) + 1).item()))
            worker.start()
            worker.join(20)
            if worker.is_alive():
                raise RuntimeError("a deadlock")
        """,
    )
    host.run("""
        import lamella
        import tiny_threads
        assert tiny_threads.answers == [2], [(p.name, p.reason) for p in lamella.plugins.status()]
    """)


def test_a_plugin_reaches_itself_while_loading(host, packages):
    packages(
        "self",
        """
        import lamella
        from lamella.plugins import hookimpl

        times = []

        @hookimpl
        def register(ctx):
            times.append(1)
            lamella.plugins.load("self")
            lamella.plugins.status()
        """,
    )
    host.run("""
        import lamella
        import tiny_self
        assert tiny_self.times == [1]
        assert [p.state for p in lamella.plugins.status() if p.name == "self"] == ["loaded"]
    """)


def test_a_plugin_whose_package_is_imported_before_lamella(host, packages):
    """The package is half imported when Lamella loads it: the plugin works, or the reason gives a remedy."""
    packages("good", GOOD)
    host.run("""
        import tiny_good
        import lamella
        assert (lamella.ones(2) + 1).tolist() == [2, 2]
        good = next(p for p in lamella.plugins.status() if p.name == "good")
        assert good.state == "loaded" or "import lamella" in good.reason, good.reason
    """)


def test_ctrl_c_while_loading_is_not_swallowed(host, packages):
    packages("bad", HOOK + "        raise KeyboardInterrupt\n", group="lamella.backends")
    host.run("""
        import lamella
        with fails(KeyboardInterrupt):
            lamella.ones(1, device="bad")
        assert (lamella.ones(2) + 1).tolist() == [2, 2]
    """)


@pytest.mark.parametrize(
    ("setting", "loaded"),
    [
        ("cpu", {"cpu"}),
        ("cpu,good", {"cpu", "good"}),
        ("-good", {"cpu", "other"}),
        ("-good,-other", {"cpu"}),
        ("", {"cpu", "good", "other"}),
        (" cpu , other ", {"cpu", "other"}),
    ],
)
def test_allow_and_deny_by_name(host, packages, setting, loaded):
    packages("good", GOOD)
    packages("other", GOOD.replace('"good"', '"other"'))
    mine = {"cpu", "good", "other"}
    shown = {n: v for n, v in rows(host.table(LAMELLA_PLUGINS=setting)).items() if n in mine}
    assert {n for n, (state, _) in shown.items() if state == "loaded"} == loaded
    for name in mine - loaded:
        assert shown[name][0] == "denied" and "LAMELLA_PLUGINS" in shown[name][1]
    program = "import lamella, sys; print('tiny_good' in sys.modules, (lamella.ones(2) + 1).tolist())"
    assert host.run(program, LAMELLA_PLUGINS=setting).split(maxsplit=1)[0] == str("good" in loaded)


def test_without_the_cpu_a_call_says_what_is_missing(host):
    host.run(
        """
        import lamella

        assert lamella.empty(3, device="meta").shape == (3,)
        for call in (lambda: lamella.ones(2), lambda: lamella.ones(2, device="cpu")):
            with fails(RuntimeError, "cpu"):
                call()
        """,
        LAMELLA_PLUGINS="-cpu",
    )


@pytest.mark.parametrize(
    ("device", "body", "words", "settings"),
    [
        ("abacus", None, "cpu", {}),
        ("card", "raise SystemExit", "LAMELLA_PLUGINS=cpu", {"LAMELLA_PLUGINS": "cpu"}),
        ("promise", "pass", "promise", {}),
    ],
)
def test_a_device_that_is_not_there_says_why(host, packages, device, body, words, settings):
    """No plugin brings the device, its plugin is denied, or the plugin registers no device of the entry's name."""
    if body:
        packages(device, HOOK + f"        {body}\n", group="lamella.backends")
    program = f"""
        import lamella
        for _ in range(2):
            with fails(RuntimeError, {device!r}, {words!r}):
                lamella.ones(1, device={device!r})
    """
    host.run(program, **settings)


def test_worker_processes_have_the_plugins(host, packages, tmp_path):
    """Spawned and forked workers of a pool run operators under a plugin's layer."""
    packages("good", GOOD)
    (tmp_path / "job.py").write_text(
        "import lamella\n\ndef job(n):\n    import tiny_good\n"
        "    return (lamella.ones(n) + 1).sum().item(), tiny_good.seen\n"
    )
    host.run(
        """
        import multiprocessing as mp
        from job import job
        for method in ("spawn", "fork"):
            with mp.get_context(method).Pool(2) as pool:
                assert pool.map(job, [1, 2, 3]) == [(2, ["good"]), (4, ["good"]), (6, ["good"])]
        """,
        PYTHONPATH=os.pathsep.join([host.env["PYTHONPATH"], str(tmp_path)]),
    )


def test_attributes_of_a_plugin_that_is_not_loaded_name_it(host, packages):
    """A manifest names the attributes of a plugin; the error of using one names the missing plugin and the reason."""
    packages("good", GOOD)
    packages("bad", 'raise OSError("on fire")\n', manifest='{"attributes": ["sparkle", "export"]}')
    host.run(
        WORKS
        + """
    for name in ("sparkle", "export"):  # a free name, and a planned one
        with fails(AttributeError, name, "'bad'", "failed", "on fire"):
            getattr(lamella.ones(1), name)
    """
    )


def test_keywords_of_a_plugin_that_is_not_loaded_name_it(host, packages):
    """Keywords of factories are reported like attributes."""
    packages("good", GOOD)
    packages("bad", 'raise OSError("on fire")\n', manifest='{"keywords": ["sparkle"]}')
    host.run(
        WORKS
        + """
    for keyword, words in (("sparkle", ["'bad'", "on fire"]), ("x", [])):
        with fails(TypeError) as error:
            lamella.ones(1, **{keyword: True})
        assert [w for w in ["ones", keyword, *words] if w not in str(error)] == [], str(error)
        assert words or "planned" not in str(error), str(error)
    """
    )


@pytest.mark.parametrize("strict, state", [("0", "loaded"), ("1", "failed")])
def test_a_kernel_for_a_device_that_is_not_there(host, packages, strict, state):
    packages("sundry", HOOK + '        ctx.library("aten").impl("neg", lambda x: x, "nodevice")\n')
    shown = rows(host.table(LAMELLA_STRICT=strict))
    assert shown["sundry"][0] == state
    assert ("waits for the key 'nodevice'" in shown["sundry"][1]) == (state == "failed"), shown


def test_strict_mode_waits_for_plugins_that_come_later(host, packages):
    """A registration may be for another plugin's layer or operator, whichever plugin is loaded first."""
    packages("early", HOOK + '        ctx.library("aten").impl("neg", lambda call, x: x, "latelayer")\n')
    packages(
        "later",
        HOOK + '        ctx.library("later").register_layer("latelayer", lambda call, *a, **k: call(*a, **k))\n',
    )
    shown = rows(host.table(LAMELLA_STRICT="1"))
    assert shown["early"][0] == shown["later"][0] == "loaded", shown
    for name in ("other", "zeta"):  # one loads before the plugin that it needs, one after it
        packages(name, HOOK + '        ctx.library("aten").impl("neg", lambda call, x: x, "otherlayer")\n')
    broken = (
        HOOK
        + """
        ctx.library("other").register_layer("otherlayer", lambda call, *a, **k: call(*a, **k))
        ctx.library("aten").impl("neg", lambda x: x, "nodevice")
"""
    )
    packages("worse", broken)
    shown = rows(host.table(LAMELLA_STRICT="1"))
    assert [shown[name][0] for name in ("worse", "other", "zeta")] == ["failed"] * 3, shown
    assert all("waits for the key 'otherlayer'" in shown[name][1] for name in ("other", "zeta"))
    assert shown["early"][0] == shown["later"][0] == shown["autograd"][0] == "loaded", shown
