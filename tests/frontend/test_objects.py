"""Objects of named kinds: passed from Python and back, wrapped in a class, refused if another kind is required."""

import gc
import weakref

import lamella
import pytest
from lamella.library import Library, Object


class Work:
    def __init__(self, plain):
        self.__lamella_object__ = plain


class Payload:
    pass


@pytest.fixture
def lib():
    lib = Library("kinds", "DEF")
    lib.define("start(int n) -> kinds.Work")
    lib.define("steps(kinds.Work work) -> int")
    lib.define("same(kinds.Work? work) -> kinds.Work?")
    lib.impl("start", lambda n: Object("kinds.Work", n))
    lib.impl("steps", lambda work: (work if isinstance(work, Object) else work.__lamella_object__).payload)
    lib.impl("same", lambda work: work)
    yield lib
    lib.close()


def test_an_object_passes_through_an_operator_and_stays_the_same(lib):
    work = lamella.ops.kinds.start(3)
    assert isinstance(work, Object)
    assert (work.kind, work.payload, repr(work)) == ("kinds.Work", 3, "<lamella.library.Object kinds.Work>")
    assert lamella.ops.kinds.steps(work) == 3
    again = lamella.ops.kinds.same(work)
    assert again == work
    assert hash(again) == hash(work)
    assert work != lamella.ops.kinds.start(3)
    assert work != 3
    assert lamella.ops.kinds.same(None) is None


def test_a_class_of_python_stands_for_a_kind(lib):
    made = lib.register_object("kinds.Work", Work)
    work = lamella.ops.kinds.start(4)
    assert type(work) is Work
    assert lamella.ops.kinds.steps(work) == 4
    assert lamella.ops.kinds.same(work).__lamella_object__ == work.__lamella_object__
    made.remove()
    made.remove()
    assert type(lamella.ops.kinds.start(4)) is Object


def test_a_class_goes_with_its_library(lib):
    other = Library("kinds", "FRAGMENT", owner="somebody")
    other.register_object("kinds.Work", Work)
    with pytest.raises(RuntimeError, match="register_object: kind 'kinds.Work' is registered by somebody"):
        lib.register_object("kinds.Work", Work)
    other.close()
    assert type(lamella.ops.kinds.start(1)) is Object
    lib.register_object("kinds.Work", Work)


def test_what_is_no_object_of_the_kind_is_refused(lib):
    class Broken:
        @property
        def __lamella_object__(self):
            raise ValueError("broken on purpose")

    class Strange:
        __lamella_object__ = 7

    for wrong in (Object("kinds.Other", 3), 3, "kinds.Work", lamella.ones(1), lamella.Generator(), Strange(), None):
        with pytest.raises(TypeError, match="steps.*argument 'work'"):
            lamella.ops.kinds.steps(wrong)
    with pytest.raises(ValueError, match="broken on purpose"):
        lamella.ops.kinds.steps(Broken())
    with pytest.raises(TypeError, match="generator"):
        lamella.rand(2, generator=Object("kinds.Work", 3))


def test_a_result_of_another_kind_is_an_error(lib):
    lib.define("wrong() -> kinds.Work")
    lib.impl("wrong", lambda: Object("kinds.Other", 1))
    with pytest.raises(TypeError, match="wrong"):
        lamella.ops.kinds.wrong()
    lib.define("no_object() -> kinds.Work")
    lib.impl("no_object", lambda: 3)
    with pytest.raises(TypeError, match="no_object"):
        lamella.ops.kinds.no_object()


def test_an_error_of_the_class_comes_through(lib):
    def refuse(plain):
        raise KeyError("refused on purpose")

    lib.register_object("kinds.Work", refuse)
    with pytest.raises(KeyError, match="refused on purpose"):
        lamella.ops.kinds.start(1)


def test_a_payload_lives_as_long_as_its_objects(lib):
    payload = Payload()
    seen = weakref.ref(payload)
    work = lamella.ops.kinds.same(Object("kinds.Work", payload))
    del payload
    gc.collect()
    assert seen() is not None
    del work
    gc.collect()
    assert seen() is None


def test_a_cycle_through_a_payload_is_collected():
    payload = Payload()
    payload.__lamella_object__ = Object("kinds.Work", payload)
    seen = weakref.ref(payload)
    del payload
    gc.collect()
    assert seen() is None


def test_arguments_of_object_are_checked():
    for wrong in ("", "Generator"):
        with pytest.raises(ValueError, match="Object: argument 'kind'"):
            Object(wrong, 1)
    with pytest.raises(TypeError):
        Object("kinds.Work")
    with pytest.raises(ValueError, match="register_object: argument 'kind'"):
        Library("kinds", "FRAGMENT").register_object("Generator", Work)
