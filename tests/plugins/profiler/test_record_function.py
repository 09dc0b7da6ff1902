"""record_function: blocks and decorated functions with names."""

import asyncio
import threading

import lamella
import pytest
from lamella.profiler import record_function
from observing import FUNCTION, USER, names, observed
from threads import in_threads


def told_of(**options):
    events = []
    return events, observed(
        lambda r: events.append(("begin", r.name)),
        lambda r, c: events.append(("end", r.name)),
        scopes=(USER,),
        **options,
    )


def test_blocks_in_one_another():
    events, watch = told_of()
    with watch:
        with record_function("outer"):
            with record_function("inner", "args"):
                pass
            with record_function("outer"):
                pass
    assert events == [
        ("begin", "outer"),
        ("begin", "inner"),
        ("end", "inner"),
        ("begin", "outer"),
        ("end", "outer"),
        ("end", "outer"),
    ]


def test_its_name_and_args():
    block = record_function("load", args="from disk")
    assert (block.name, block.args) == ("load", "from disk") and record_function(name="x").args is None


def test_a_block_is_used_again_but_not_within_itself():
    events, watch = told_of()
    block = record_function("again")
    with watch:
        for _ in range(2):
            with block:
                pass
        with block, pytest.raises(RuntimeError, match="'again' is entered a second time"):
            block.__enter__()
        with block:
            pass
    assert events == [("begin", "again"), ("end", "again")] * 4


def test_a_decorated_function():
    @record_function("double")
    def double(x, *, by=2):
        """Doubles."""
        return x * by if x < 100 else double(x - 100)

    events, watch = told_of()
    with watch:
        assert double(3) == 6 and double(3, by=3) == 9 and double(101) == 2
    assert [e for e in events if e[0] == "begin"] == [("begin", "double")] * 4
    assert double.__name__ == "double" and double.__doc__ == "Doubles."


def test_a_decorated_function_that_raises_and_on_several_threads():
    @record_function("fails")
    def fails():
        barrier.wait(60)
        raise KeyError("mine")

    barrier = threading.Barrier(3)
    events, watch = told_of()

    def work():
        with pytest.raises(KeyError, match="mine"):
            fails()
        done.append(1)

    done = []
    with watch:
        in_threads(*[work] * 3)
    assert len(done) == 3
    assert sorted(events) == [("begin", "fails")] * 3 + [("end", "fails")] * 3 or events.count(("end", "fails")) == 3


def test_a_decorated_coroutine():
    """The block is open while the coroutine runs, also while it waits."""

    @record_function("task")
    async def task(n):
        await asyncio.sleep(0)
        with record_function(f"inside {n}"):
            return n

    async def both():
        return await asyncio.gather(task(1), task(2))

    events, watch = told_of()
    with watch:
        assert asyncio.run(both()) == [1, 2]
    assert events[:2] == [("begin", "task")] * 2
    assert events.count(("end", "task")) == 2 and ("begin", "inside 2") in events
    assert events.index(("end", "inside 1")) < events.index(("end", "task"))


def test_a_decorated_generator_is_a_block_around_its_making():
    @record_function("numbers")
    def numbers():
        yield 1
        yield 2

    events, watch = told_of()
    with watch:
        assert list(numbers()) == [1, 2]
    assert events == [("begin", "numbers"), ("end", "numbers")]


def test_methods_and_subclasses():
    class Named(record_function):
        pass

    class Thing:
        @Named("method")
        def method(self, x):
            return self, x

    events, watch = told_of()
    with watch:
        thing = Thing()
        assert thing.method(3) == (thing, 3)
        with Named("block"):
            pass
    assert events == [("begin", "method"), ("end", "method"), ("begin", "block"), ("end", "block")]


@pytest.mark.parametrize("name", ["", "ä € 🚀", "a\nb", "a" * 10_000, "nul \0 inside"])
def test_odd_names(name):
    with names(scopes=(USER,)) as heard:
        with record_function(name):
            pass
    assert heard == [name.partition("\0")[0]]  # a zero byte ends a name


def test_names_with_surrogates():
    """A text that UTF-8 cannot encode, such as a file's name, is shown with replacement characters."""
    with names(scopes=(USER,)) as heard:
        with record_function("file \udcff"):
            pass
    assert len(heard) == 1 and heard[0].startswith("file ")
    with record_function("file \udcff"):  # without an observer
        pass


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: record_function(3), "argument 'name' must be str, got int"),
        (lambda: record_function(), "1 positional argument|name|takes at least 1"),
        (lambda: record_function("a", nothing=2), "nothing"),
        (lambda: record_function("a")(3), "decorates functions, got 3"),
        (lambda: record_function("a")(dict), "decorates functions, got <class 'dict'>"),
        (lambda: record_function("a")(), "func"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(TypeError, match=words):
        call()


def test_left_on_another_thread():
    """The thread that leaves the block closes it; the thread that entered goes on without it."""
    seen = []
    begins, ends = (lambda r: seen.append(("begin", r.name, r.parent))), (lambda r, c: seen.append(("end", r.name)))
    with observed(begins, ends, scopes=(USER, FUNCTION)):
        block = record_function("across")
        block.__enter__()
        in_threads(lambda: block.__exit__(None, None, None))
        with record_function("here"):
            lamella.ones(1)
    assert seen == [
        ("begin", "across", None),
        ("end", "across"),
        ("begin", "here", None),
        ("begin", "aten::ones", "here"),
        ("end", "aten::ones"),
        ("end", "here"),
    ]


def test_left_out_of_order():
    events, watch = told_of()
    with watch:
        a, b = record_function("a"), record_function("b")
        a.__enter__(), b.__enter__()
        a.__exit__(None, None, None), b.__exit__(None, None, None)
        with record_function("c"):
            pass
    assert events.count(("end", "a")) == events.count(("end", "b")) == 1 and events[-1] == ("end", "c")
    a.__exit__(None, None, None)  # `a` is already closed


def test_entered_by_hand_and_dropped():
    events, watch = told_of()
    with watch:
        record_function("dropped").__enter__()
        with record_function("next"):
            pass
    assert events[:2] == [("begin", "dropped"), ("end", "dropped")] and events[-1] == ("end", "next")


def test_a_block_that_begins_before_its_observer():
    events, watch = told_of()
    with record_function("early"), watch, record_function("late"):
        pass
    assert events == [("begin", "late"), ("end", "late")]


def test_the_name_of_the_block_around():
    seen = []
    with observed(lambda r: seen.append((r.name, r.parent)), scopes=(USER, FUNCTION)):
        with record_function("ä \udcff"):
            lamella.ones(1)
    assert seen[1][0] == "aten::ones" and seen[1][1] == seen[0][0]


def test_the_block_around_it_is_the_tasks_own():
    """Tasks that alternate on a thread are not inside each other's blocks; a task that is made in a block, and a thread
    that runs in a copy of the context, are inside it."""
    seen = []

    async def task(name):
        with record_function(name):
            await asyncio.sleep(0)
            lamella.ones(1)
            await asyncio.gather(part(f"{name} part"), asyncio.to_thread(lamella.zeros, 1))

    async def part(name):
        with record_function(name):
            await asyncio.sleep(0)

    async def tasks():
        await asyncio.gather(task("a"), task("b"))

    with observed(lambda r: seen.append((r.name, r.parent)), scopes=(USER, FUNCTION)):
        asyncio.run(tasks())
        lamella.full((1,), 2)
    assert sorted(seen, key=str) == sorted(
        [("a", None), ("b", None), ("a part", "a"), ("b part", "b"), ("aten::full", None)]
        + [(name, task) for name in ("aten::ones", "aten::zeros") for task in "ab"],
        key=str,
    )
