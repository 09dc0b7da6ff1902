"""docs/memory.md runs from its beginning to its end; and the examples of the modules that it describes."""

import doctest
import gc
import importlib

import lamella
import pytest
from pages import blocks

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(autouse=True)
def nothing_followed():
    gc.collect()
    yield
    lamella.profiler.record_memory_history(None)


def run(text, name):
    report = []
    test = doctest.DocTestParser().get_doctest(text, {"lamella": lamella}, name, None, 0)
    result = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS).run(test, out=report.append)
    assert result.attempted and not result.failed, "".join(report)


def test_the_page():
    run("\n".join(blocks("docs/memory.md", "python")), "docs/memory.md")


@pytest.mark.parametrize("module", ["memory", "numerics"])
def test_examples(module):
    found = importlib.import_module(f"lamella.plugins.profiler.{module}")
    for name in found.__all__:
        doc = getattr(found, name).__doc__
        if ">>> " in doc:
            run(doc, name)
        assert doc
