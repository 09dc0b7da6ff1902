"""Observers that fail, that call operators, that are added and removed during calls; fork, and the process's end."""

import os
import signal
import threading

import lamella
import pytest
from lamella import profiler
from observing import BACKWARD, FUNCTION, KERNEL, USER, callback, is_there, names, observed, unraisable


def in_a_child(check):
    """Runs a check in a forked child, which must end within a minute."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.alarm(60)
            check()
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0


class Odd(Exception):
    pass


@pytest.mark.parametrize("where", ["enter", "exit"])
@pytest.mark.parametrize("everywhere", [True, False])
def test_an_observer_that_raises_is_removed_and_reported(where, everywhere):
    calls = []

    def fail(*_):
        calls.append(1)
        raise Odd("no")

    functions = {"enter": fail} if where == "enter" else {"leave": fail}
    with unraisable() as reported, names() as heard, observed(**functions, everywhere=everywhere) as handle:
        assert (lamella.ones(2) + 1).tolist() == [2, 2]
        assert not is_there(handle)
    ((error, what),) = reported
    assert isinstance(error, Odd) and "a callback of lamella.profiler, which was removed" in what
    assert calls == [1] and heard == ["aten::ones", "aten::add"]  # the other observers go on


def test_its_own_error_is_the_operator_s():
    def fail(r, _):
        raise Odd("no")

    with unraisable() as reported, observed(leave=fail), pytest.raises(RuntimeError) as raised:
        lamella.ones(2, 3).view(7)
    assert "7" in str(raised.value) or "view" in str(raised.value)
    assert [type(e) for e, _ in reported] == [Odd] and raised.value.__context__ is None


def test_an_exception_under_way_is_kept_through_a_block():
    def fail(r, _):
        raise Odd("no")

    with unraisable() as reported, observed(leave=fail, scopes=(USER,)), pytest.raises(KeyError, match="mine"):
        with profiler.record_function("block"):
            raise KeyError("mine")
    assert [type(e) for e, _ in reported] == [Odd]


@pytest.mark.parametrize("scope", [BACKWARD, USER, KERNEL])
def test_one_that_raises_in_other_scopes(scope):
    def fail(*_):
        raise Odd("no")

    x = lamella.ones(2, requires_grad=True)
    for functions in {"enter": fail}, {"leave": fail}:
        with unraisable() as reported, observed(**functions, scopes=(scope,)) as handle:
            with profiler.record_function("block"):
                (x * 3).sum().backward()
            assert not is_there(handle)
        assert [type(e) for e, _ in reported] == [Odd]
    assert x.grad.tolist() == [6, 6]


def test_an_exit_that_raises_for_many_records_at_once():
    """Each open record reports its own failure, and the observer is removed once."""

    def fail(*_):
        raise Odd("no")

    with unraisable() as reported, observed(lambda r: None, fail, scopes=(USER, FUNCTION)) as handle:
        with profiler.record_function("outer"), profiler.record_function("inner"):
            lamella.ones(1)
        assert not is_there(handle)
    assert {type(e) for e, _ in reported} == {Odd} and 1 <= len(reported) <= 3


def test_keyboard_interrupt_in_a_callback_does_not_pass_the_operator():
    def fail(*_):
        raise KeyboardInterrupt

    with unraisable() as reported, observed(fail):
        assert lamella.ones(1).tolist() == [1]
    assert [type(e) for e, _ in reported] == [KeyboardInterrupt]


def test_operators_that_an_observer_calls_are_not_observed():
    heard = []

    def enter(r):
        heard.append(r.name)
        with profiler.record_function("from within"):
            x = lamella.ones(2, requires_grad=True)
            (x * 2).sum().backward()
        return x.grad.tolist()

    got = []
    with observed(enter, lambda r, c: got.append((c, lamella.zeros(1).item())), scopes=tuple(profiler.RecordScope)):
        lamella.full((1,), 2.0)
    assert heard == ["aten::full"] * len(heard) and 1 <= len(heard) <= 2  # once above autograd, perhaps once below
    assert got == [([2.0, 2.0], 0.0)] * len(heard)


def test_removal_from_within():
    """An observer removes itself in enter or exit: that record's exit still runs, and no further call is observed."""
    told, handles, removing = [], [], []

    def told_of(where):
        told.append(where)
        if [where] == removing:
            profiler.remove_callback(handles[-1])

    for where in "enter", "exit":
        told.clear()
        removing[:] = [where]
        handles.append(profiler.add_global_callback(callback(lambda r: told_of("enter"), lambda r, _: told_of("exit"))))
        lamella.ones(1)
        lamella.ones(1)
        assert told == ["enter", "exit"] and not is_there(handles[-1])


def test_one_removes_another_and_adds_a_third():
    told = []
    added = []

    def enter(r):
        told.append("first")
        if not added:
            profiler.remove_callback(second)
            added.append(profiler.add_global_callback(callback(lambda r: told.append("third"))))

    first = profiler.add_global_callback(callback(enter))
    second = profiler.add_global_callback(callback(lambda r: told.append("second"), lambda r, c: told.append("ends")))
    lamella.ones(1)  # the second may get this call; then it gets the end too
    before = list(told)
    told.clear()
    lamella.ones(1)
    profiler.remove_callback(first), profiler.remove_callback(added[0])
    assert before.count("second") == before.count("ends") <= 1
    assert told == ["first", "third"]


def test_removed_while_its_records_are_open():
    told = []
    with observed(lambda r: told.append(r.name), lambda r, c: told.append("end"), scopes=(USER,)) as handle:
        with profiler.record_function("block"):
            profiler.remove_callback(handle)
            lamella.ones(1)
    assert told == ["block", "end"]


def test_switching_off_from_within():
    told = []

    def enter(r):
        told.append(r.name)
        profiler.enable_record_function(False)

    with observed(enter):
        lamella.ones(1)
        lamella.zeros(1)
        profiler.enable_record_function(True)
        lamella.eye(1)
        profiler.enable_record_function(True)
    assert told[0] == "aten::ones" and "aten::zeros" not in told and "aten::eye" in told


def test_ten_thousand_come_and_go():
    """Observers use no bit of the layers, and leak no memory."""

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def come_and_go(n):
        for _ in range(n):
            handle = profiler.add_global_callback(
                callback(print, print, scopes=tuple(profiler.RecordScope), needs="ids")
            )
            profiler.remove_callback(handle)
            handle = profiler.add_thread_local_callback(callback(print))
            profiler.remove_callback(handle)

    layers = lamella._C._thread_layers()
    come_and_go(2000)
    before = resident()
    come_and_go(10000)
    assert resident() - before < 10000 * 100
    assert lamella._C._thread_layers() == layers
    with names() as heard:
        lamella.ones(1)
    assert heard == ["aten::ones"]


def test_many_at_once():
    heard = []
    handles = [profiler.add_global_callback(callback(lambda r, i=i: heard.append(i))) for i in range(1000)]
    lamella.ones(1)
    for handle in handles[::2] + handles[1::2]:
        profiler.remove_callback(handle)
    lamella.ones(1)
    assert heard == list(range(1000))


def test_fork_while_observing():
    numbers = []

    def enter(r):
        numbers.append(r.thread_id)

    def check():
        lamella.ones(1)
        assert numbers[-1] == os.getpid() != os.getppid()
        with names() as more:
            lamella.zeros(1)
        assert more == ["aten::zeros"]

    with observed(enter, scopes=tuple(profiler.RecordScope), needs="ids"):
        lamella.ones(1)
        assert threading.get_native_id() in numbers
        with profiler.record_function("around the fork"):
            in_a_child(check)
        x = lamella.ones(2, requires_grad=True)
        y = (x * 2).sum()
        in_a_child(y.backward)


def test_fork_while_other_threads_observe():
    stop = threading.Event()

    def call():
        x = lamella.ones(2, requires_grad=True)
        while not stop.is_set():
            (x * 2).sum().backward()

    def come_and_go():
        while not stop.is_set():
            with observed(lambda r: None):
                pass

    def check():
        with names() as heard:
            lamella.ones(1)
        assert heard == ["aten::ones"]
        x = lamella.ones(2, requires_grad=True)
        (x * 2).sum().backward()

    threads = [threading.Thread(target=t) for t in (call, call, come_and_go)]
    with observed(lambda r: None, scopes=tuple(profiler.RecordScope), needs="ids"):
        for t in threads:
            t.start()
        try:
            for _ in range(10):
                in_a_child(check)
        finally:
            stop.set()
            for t in threads:
                t.join(60)


@pytest.mark.parametrize(
    "ending", ["pass", "raise SystemExit(0)", "threading.Thread(target=work, daemon=True).start()"]
)
def test_observers_left_at_the_end_of_the_process(host, ending):
    out = host.run(f"""
        import threading
        import lamella
        from lamella import profiler

        class Loud:
            def __call__(self, *args):
                return lamella  # needs the module's globals

        def work():
            x = lamella.ones(2, requires_grad=True)
            while True:
                (x * 2).sum().backward()

        every = tuple(profiler.RecordScope)
        made = profiler.RecordFunctionCallback(Loud(), Loud()).scopes(every).needs_ids()
        profiler.add_global_callback(made)
        profiler.add_thread_local_callback(made)
        profiler.set_api_usage_handler(Loud())
        left = profiler.record_function("never left")
        left.__enter__()
        info = profiler.debug_info("model", Loud())
        info.__enter__()
        x = lamella.ones(2, requires_grad=True)
        (x * 2).sum().backward()
        print("done", flush=True)
        {ending}
    """)
    assert out == "done\n"


def test_a_state_from_outside_does_not_observe_an_observer():
    """A state that was captured outside does not make operators inside the callback observed."""
    state = lamella.capture_state()
    names = []

    def enter(record):
        names.append(record.name)
        assert len(names) < 10
        state.run(lambda: lamella.ones(1) + 1)

    handle = lamella.profiler.add_global_callback(lamella.profiler.RecordFunctionCallback(enter).scopes({"function"}))
    lamella.zeros(1)
    lamella.profiler.remove_callback(handle)
    assert names == ["aten::zeros"]


@pytest.mark.long
def test_many_forks_while_threads_register_profile_and_allocate():
    """Each child has a consistent registry and free locks, whatever other threads did; no fork waits forever."""
    stop = threading.Event()
    failures = []

    def register(n):
        library = lamella.library.Library(f"forked{n}", "DEF")
        library.define("same(Tensor self) -> Tensor")
        library.impl("same", lambda x: x.clone(), "cpu")
        assert getattr(lamella.ops, f"forked{n}").same(lamella.ones(1)).tolist() == [1]
        library.close()

    def watch(n):
        with observed(lambda r: None, scopes=tuple(profiler.RecordScope), needs="ids"):
            x = lamella.ones(2, requires_grad=True)
            (x * 2).sum().backward()

    def record(n):
        with profiler.profile(profile_memory=True), profiler.record_function("block"):
            lamella.ones(1000) + 1

    def remember(n):
        with profiler.record_memory_history(stacks=None):
            lamella.ones(1000)

    def log(n):
        profiler.log_api_usage_once("test.forks")

    jobs = (register, watch, record, remember, log)
    for job in jobs:  # imports all modules, since a child may inherit a held import lock
        job("first")

    def repeat(job, n):
        try:
            while not stop.is_set():
                job(n)
        except BaseException as error:
            failures.append(error)

    def check():
        for job in jobs:
            job("child")

    threads = [threading.Thread(target=repeat, args=(job, n)) for n, job in enumerate(jobs)]
    for t in threads:
        t.start()
    try:
        for _ in range(40):
            in_a_child(check)
    finally:
        stop.set()
        for t in threads:
            t.join(60)
    assert not failures and not any(t.is_alive() for t in threads)
