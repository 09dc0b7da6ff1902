"""The C++ of docs/autograd.md, built with the installed headers alone."""

import re
from pathlib import Path

import pytest
from children import run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "autograd.md"


@pytest.mark.needs("autograd")
def test_the_operator_of_the_page_has_its_derivative(host, tmp_path):
    [source] = re.findall(r"^```cpp\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "page.cpp").write_text(source)
    where = host.run("import lamella._C; print(lamella._C.__file__)").strip()
    flags = ("-std=c++17", "-O1", "-shared", "-fPIC", "-I", Path(where).parent / "include")
    run("g++", *flags, tmp_path / "page.cpp", "-o", tmp_path / "page.so", cwd=tmp_path)
    host.run("""
        import lamella

        lamella._C._load_plugin("./page.so")
        x = lamella.tensor([-1.0, 0.5, 3.0], requires_grad=True)
        lamella.ops.page.softsign(x).sum().backward()
        assert lamella.allclose(x.grad, 1 / (1 + x.detach().abs()).square())
    """)
