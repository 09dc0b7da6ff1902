"""The log of used features: each key once a process, to all handlers; and the places where the framework logs."""

import re
import subprocess
from importlib.metadata import distribution
from pathlib import Path

import pytest
from children import OWN_PLUGINS, clean_environment, run
from lamella import profiler
from observing import unraisable
from pages import ROOT
from threads import in_threads

PAGE = ROOT / "docs" / "observability.md"


@pytest.fixture
def handled():
    """Returns a function that adds a handler; the fixture removes all handlers after the test."""
    handles = []

    def add(handler):
        handles.append(profiler.set_api_usage_handler(handler))
        return handles[-1]

    yield add
    for handle in handles:
        profiler.remove_api_usage_handler(handle)


def test_each_key_once_to_all_handlers(handled):
    first, second = [], []
    handled(first.append), handled(second.append)
    for key in "test.a", "test.b", "test.a":
        profiler.log_api_usage_once(key)
    assert [k for k in first if k in ("test.a", "test.b")] == ["test.a", "test.b"]
    assert second == ["test.a", "test.b"]


def test_a_handler_that_logs_and_one_that_raises(handled):
    told = []

    def again(key):
        told.append(key)
        profiler.log_api_usage_once("test.again")
        profiler.log_api_usage_once(key)

    def fail(key):
        raise KeyError(key)

    handled(fail), handled(again)
    with unraisable() as reported:
        profiler.log_api_usage_once("test.raises")
        profiler.log_api_usage_once("test.raises twice")
    assert told == ["test.raises", "test.again", "test.raises twice"]
    assert [repr(e) for e, _ in reported] == [f"KeyError({k!r})" for k in told]
    assert all("a handler of lamella.profiler's usage log" in what for _, what in reported)


def test_a_handler_that_removes_itself_and_adds_another(handled):
    told = []

    def once(key):
        told.append(key)
        profiler.remove_api_usage_handler(handle)
        handled(lambda key: told.append(f"second {key}"))

    handle = profiler.set_api_usage_handler(once)
    profiler.log_api_usage_once("test.removes")
    profiler.log_api_usage_once("test.then")
    assert told == ["test.removes", "second test.then"]


def test_keys_stay_for_the_next_handler_when_the_first_removes_itself(host):
    """A new process keeps the keys of its start until a handler is added."""
    host.run(
        """
        from lamella import profiler

        for n in range(3):
            profiler.log_api_usage_once(f"test.{n}")
        first, second = [], []

        def once(key):
            first.append(key)
            profiler.remove_api_usage_handler(1)  # the number of the process's first one

        assert profiler.set_api_usage_handler(once) == 1
        profiler.set_api_usage_handler(second.append)
        assert len(first) == 1 and first[0] == "python.import", first
        assert second[-3:] == ["test.0", "test.1", "test.2"] and not set(first) & set(second), second
        """
    )


def test_many_threads(handled):
    told = []
    handled(told.append)

    def work():
        for i in range(200):
            profiler.log_api_usage_once(f"test.thread {i}")

    in_threads(*[work] * 4)
    profiler.log_api_usage_once("test.last of all")  # this key arrives after all queued ones
    assert sorted(told[:-1]) == sorted(f"test.thread {i}" for i in range(200)) and told[-1] == "test.last of all"


def test_odd_keys(handled):
    told = []
    handled(told.append)
    for key in "", "ä 🚀", "k" * 10_000:
        profiler.log_api_usage_once(key)
    assert told == ["", "ä 🚀", "k" * 10_000]
    with pytest.raises(UnicodeEncodeError):
        profiler.log_api_usage_once("\udcff")
    with pytest.raises(TypeError, match="argument 'key' must be str, got int"):
        profiler.log_api_usage_once(3)
    with pytest.raises(TypeError, match="argument 'handler' must be callable, got str"):
        profiler.set_api_usage_handler("x")
    with pytest.raises(ValueError, match="there is no handler 1000000"):
        profiler.remove_api_usage_handler(1000000)


EVERY = """
    import io
    import lamella
    import lamella.utils.cpp_extension

    with lamella.no_grad():
        lamella.nn.Linear(2, 2)
    lamella.nn.Linear(2, 2)
    lamella.optim.SGD([lamella.ones(1, requires_grad=True)], lr=0.1)
    list(lamella.utils.data.DataLoader([1, 2]))
    file = io.BytesIO()
    lamella.save([], file)
    file.seek(0)
    lamella.load(file)
    for call in (
        lambda: lamella.compile(print),
        lambda: lamella.ops.load_library(__file__),
        lambda: lamella.utils.cpp_extension.load("x", "missing.cpp"),
        lambda: lamella.utils.cpp_extension.load_inline("x", "", functions=3),
    ):
        try:
            call()
        except Exception:
            pass
"""
KEYS = [
    "python.import",
    "backend.cpu",
    *(f"plugin.{e.name}" for e in distribution("lamella").entry_points if e.group == "lamella.plugins"),
    "python.nn_module",
    "python.optimizer",
    "python.data_loader",
    "python.save",
    "python.load",
    "refused.lamella.compile",
    "python.load_library",
    "python.cpp_extension.load",
    "python.cpp_extension.load_inline",
]


def program(tmp_path, text):
    file = tmp_path / "program.py"
    file.write_text("\n".join(line[4:] for line in text.splitlines()))
    return file


def test_where_the_framework_logs(host, tmp_path):
    """Keys from before the first handler are kept for it; the page lists all keys."""
    file = program(
        tmp_path,
        EVERY
        + """
    told = []
    lamella.profiler.set_api_usage_handler(told.append)
    lamella.nn.Linear(2, 2), lamella.save([], io.BytesIO())
    print(*told, sep="\\n")
""",
    )
    told = run(host.python, str(file), cwd=tmp_path, LAMELLA_PLUGINS=OWN_PLUGINS).splitlines()
    assert sorted(told) == sorted(set(told)) and set(KEYS) <= set(told)
    listed = re.findall(r"^\| `([\w.]+)` \|", PAGE.read_text(), re.MULTILINE)
    assert {k for k in KEYS if not k.startswith(("backend.", "plugin.", "refused."))} <= set(listed)
    assert {"backend.NAME", "plugin.NAME", "refused.NAME"} <= set(listed)
    assert {k for k in told if k not in KEYS} == set()


def test_the_environment_prints_them(host, tmp_path):
    file = program(tmp_path, EVERY)

    def errors(**env):
        env = clean_environment(LAMELLA_PLUGINS=OWN_PLUGINS, **env)
        done = subprocess.run([host.python, str(file)], env=env, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        return [line for line in done.stderr.splitlines() if line.startswith("lamella usage: ")]

    # Plugins start in the order of their manifests' priorities, which is not that of their names.
    assert sorted(errors(LAMELLA_LOG_API_USAGE_ONCE="1")) == sorted(f"lamella usage: {k}" for k in KEYS)
    assert errors(LAMELLA_LOG_API_USAGE_ONCE="0") == errors() == []


def test_without_the_plugin_nothing_is_told(host, tmp_path):
    file = program(
        tmp_path,
        EVERY
        + """
    from lamella import _usage_log
    assert _usage_log.seen and len(_usage_log.waiting) == len(_usage_log.seen)
    for i in range(3000):
        _usage_log.log_once(f"key {i}")
    assert len(_usage_log.waiting) == _usage_log.MOST
""",
    )
    run(host.python, str(file), cwd=tmp_path, LAMELLA_PLUGINS="-profiler", LAMELLA_LOG_API_USAGE_ONCE="1")


def test_the_first_1024_keys_wait_for_a_handler(host):
    out = host.run("""
        import lamella
        for i in range(3000):
            lamella.profiler.log_api_usage_once(f"key {i}")
        told = []
        handle = lamella.profiler.set_api_usage_handler(told.append)
        print(len(told), told[0], told[-1].startswith("key "))
        lamella.profiler.remove_api_usage_handler(handle)
        lamella.profiler.set_api_usage_handler(told.append)
        print(len(told))
        lamella.profiler.log_api_usage_once("key 2999")  # it is known
        lamella.profiler.log_api_usage_once("new")
        print(told[-1])
    """)
    assert out.splitlines() == ["1024 python.import True", "1024", "new"]


def test_a_loaded_plugin_is_logged(host, packages):
    packages("sundry", "from lamella.plugins import hookimpl\n\n@hookimpl\ndef register(ctx):\n    pass\n")
    out = host.run("""
        import lamella
        lamella.profiler.set_api_usage_handler(print)
    """)
    assert "plugin.sundry" in out.splitlines()
    assert Path(PAGE).exists()
