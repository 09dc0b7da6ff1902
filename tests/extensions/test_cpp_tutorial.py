"""docs/custom_operators_cpp.md, step by step: its files are written, its examples run in order, in one session."""

import doctest
import os
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "custom_operators_cpp.md"


@pytest.mark.needs("autograd")
def test_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LATTIS_EXTENSIONS_DIR", str(tmp_path / "cache"))
    text = PAGE.read_text()
    files = re.findall(r"^```cpp\n// (\w+\.cpp)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(files) == text.count("```cpp") == 6
    for name, source in files:
        Path(name).write_text(source)
    examples = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    report = []
    test = doctest.DocTestParser().get_doctest(examples, {}, PAGE.name, str(PAGE), 0)
    result = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    assert result.attempted > 20 and not result.failed, "".join(report)
    assert os.path.isdir("cache")
