"""Follows docs/write_a_backend.md literally: its package is installed and used as the page says."""

import subprocess

import pytest
from children import clean_environment
from pages import blocks
from recipes import install

PAGE = "docs/write_a_backend.md"
FILES = {
    "toml": "pyproject.toml",
    "cmake": "CMakeLists.txt",
    "cpp": "yours.cpp",
    "json": "lamella_yours/lamella.json",
    "python": "lamella_yours/__init__.py",
}


@pytest.fixture(scope="module")
def package(tmp_path_factory, guest):
    return install(PAGE, FILES, tmp_path_factory.mktemp("recipe"), guest)


@pytest.mark.long
def test_the_program_prints_what_the_page_says(package):
    assert package.run(blocks(PAGE, "python")[1]) == blocks(PAGE, "text")[0]


def test_what_it_has_not_falls_back_and_is_counted(package):
    package.run("""
        import lamella
        x = lamella.tensor([3.0, 1.0], device="yours")
        assert x.sort().values.tolist() == [1, 3]
        assert [f[:2] for f in lamella.fallback_counts()] == [("yours", "aten::sort.stable")], lamella.fallback_counts()
        lamella.set_fallback("error")
        with fails(NotImplementedError, "sort", "yours"):
            x.sort()
    """)


def test_the_commands_it_ends_with(package):
    command = [package.python, "-m", "lamella.cli"]
    for line in blocks(PAGE, "console")[0].splitlines():
        words = line.partition("#")[0].split()
        assert words[0] == "lamella"
        done = subprocess.run(
            command + words[1:], cwd=package.folder, env=clean_environment(), capture_output=True, text=True
        )
        assert done.returncode == 0 and done.stdout, (line, done.stderr)
