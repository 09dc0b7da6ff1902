"""Follows docs/add_an_operator.md literally: its files, its command, its program, on cpu, meta and bank."""

import pytest
from pages import blocks
from recipes import install

PAGE = "docs/add_an_operator.md"
FILES = {
    "toml": "pyproject.toml",
    "cmake": "CMakeLists.txt",
    "cpp": "softsign.cpp",
    "python": "lamella_softsign/__init__.py",
}


@pytest.fixture(scope="module")
def package(tmp_path_factory, guest):
    return install(PAGE, FILES, tmp_path_factory.mktemp("recipe"), guest)


def test_the_program_prints_what_the_page_says(package):
    assert package.run(blocks(PAGE, "python")[1]) == blocks(PAGE, "text")[0]


def test_it_works_on_a_stranger_s_device(package):
    program = """
        import lamella
        x = lamella.tensor([-1.0, 0.0, 3.0], device="bank")
        y = lamella.ops.mine.softsign(x)
        print(y.device.type, y.to("cpu").tolist(), lamella.fallback_counts())
        z = lamella.ops.mine.softsign(x, out=lamella.empty(3, device="bank"))
        print(z.to("cpu").tolist())
    """
    first, second = package.run(program).splitlines()
    assert first == "bank [-0.5, 0.0, 0.75] []" and second == "[-0.5, 0.0, 0.75]"


def test_its_owner_is_the_package(package):
    shown = package.run('import lamella; print(lamella._C._show("mine::softsign"))')
    assert "category pointwise, defined by lamella-softsign" in shown and "softsign.cpp" in shown
