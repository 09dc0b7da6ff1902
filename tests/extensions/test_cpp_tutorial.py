"""Follows docs/custom_operators_cpp.md: writes its files and runs its examples in order, in one session; and the recipe
of README.md, in both ways that it names."""

import doctest
import os
import re
from pathlib import Path

import pytest
from pages import ROOT, blocks

PAGE = ROOT / "docs" / "custom_operators_cpp.md"


@pytest.mark.needs("autograd")
@pytest.mark.long
def test_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAMELLA_EXTENSIONS_DIR", str(tmp_path / "cache"))
    text = PAGE.read_text()
    files = re.findall(r"^```cpp\n// (\w+\.cpp)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(files) == text.count("```cpp") == 9
    for name, source in files:
        Path(name).write_text(source)
    examples = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    report = []
    test = doctest.DocTestParser().get_doctest(examples, {}, PAGE.name, str(PAGE), 0)
    result = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    assert result.attempted > 20 and not result.failed, "".join(report)
    assert os.path.isdir("cache")


RECIPE = """
import lamella
from lamella.utils.cpp_extension import load, load_inline
mine = {0}
assert mine is lamella.ops.mine
x = lamella.tensor([-1.0, 0.0, 3.0])
print(mine.softsign(x).tolist(), mine.softsign(x.to("meta")).shape, mine.softsign(lamella.tensor([1, 3])).tolist())
out = lamella.empty(3)
print(mine.softsign(x, out=out) is out, out.tolist(), mine.softsign_(x) is x, x.tolist())
w = lamella.tensor([1.0, -3.0], requires_grad=True)
mine.softsign(w).sum().backward()
print(w.grad.tolist())
"""


@pytest.mark.needs("autograd")
@pytest.mark.parametrize("call", ['load("mine", "softsign.cpp")', 'load_inline("mine", source)'])
def test_the_recipe_of_the_readme(call, bench):
    [source] = blocks("README.md", "cpp")
    assert call in (ROOT / "README.md").read_text()
    (bench.folder / "softsign.cpp").write_text(source)
    printed = bench.run(RECIPE.format(call).replace("source", "open('softsign.cpp').read()")).splitlines()
    assert printed == [
        "[-0.5, 0.0, 0.75] lamella.Size([3]) [0.5, 0.75]",
        "True [-0.5, 0.0, 0.75] True [-0.5, 0.0, 0.75]",
        "[0.25, 0.0625]",
    ]
