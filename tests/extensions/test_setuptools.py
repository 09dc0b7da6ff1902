"""``BuildExtension`` behaves like setuptools' ``build_ext``: its options, its subclasses, optional extensions."""

import sys
from pathlib import Path

import pytest
from building import operator
from children import run

SETUP = """
from lamella.utils.cpp_extension import BuildExtension, CppExtension
from setuptools import setup

class Mine(BuildExtension):
    def build_extension(self, ext):
        {before}
        super().build_extension(ext)

setup(
    name="mine",
    ext_modules=[CppExtension("built", "built.cpp", extra_compile_args={arguments}, optional={optional})],
    cmdclass={{"build_ext": Mine{options}}},
)
"""
USE = "import sys, lamella; print(lamella.ops.load_library(sys.argv[1]).scaled(lamella.tensor([1, 2])).tolist())"


def setup(bench, *words, source=None, before="pass", arguments='["-O0"]', optional=False, options=""):
    (bench.folder / "built.cpp").write_text(source or operator("FACTOR"))
    text = SETUP.format(before=before, arguments=arguments, optional=optional, options=options)
    (bench.folder / "setup.py").write_text(text)
    return run(sys.executable, "setup.py", "-q", "build_ext", "--inplace", *words, cwd=bench.folder, **bench.env)


def used(bench):
    return run(sys.executable, "-c", USE, str(bench.folder / "built.so"), cwd=bench.folder).strip()


def test_options_of_the_command(bench):
    (bench.folder / "headers").mkdir()
    (bench.folder / "headers/config.h").write_text("#define FACTOR (ONE + 6)\n")
    setup(bench, "-Iheaders", "-DONE", "-lm", "-L.", source='#include "config.h"\n' + operator("FACTOR"))
    assert used(bench) == "[8, 16]"


@pytest.mark.parametrize(
    "arguments, before",
    [
        ('["-O0"]', 'ext.extra_compile_args.append("-DFACTOR=7")'),
        ('{"cxx": ["-O0"]}', 'ext.extra_compile_args["cxx"].append("-DFACTOR=7")'),
        ("()", 'ext.extra_compile_args += ["-DFACTOR=7"]'),
    ],
)
def test_a_subclass_that_adds_flags(arguments, before, bench):
    setup(bench, arguments=arguments, before=before)
    assert used(bench) == "[8, 16]"


def test_an_extension_that_may_fail(bench):
    setup(bench, optional=True)  # FACTOR is not defined
    assert not (bench.folder / "built.so").exists()
    with pytest.raises(pytest.fail.Exception, match="FACTOR"):
        setup(bench)


@pytest.mark.long
def test_a_module_with_a_plain_name(bench):
    module = '#include <lamella/pybind.h>\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.attr("seven") = 7; }\n'
    setup(bench, source=module, options=".with_options(no_python_abi_suffix=True)")
    assert Path(bench.folder / "built.so").exists()
    assert run(sys.executable, "-c", "import built; print(built.seven)", cwd=bench.folder).strip() == "7"


@pytest.mark.parametrize("unknown", ["g++", "c++", "CXX"])
def test_flags_for_a_tool_that_is_not_known(unknown):
    from lamella.extensions.packaging import CppExtension

    with pytest.raises(ValueError) as error:
        CppExtension("mine.built", "built.cpp", extra_compile_args={"cxx": ["-O0"], unknown: ["-O1"]})
    message = "extension 'mine.built': argument 'extra_compile_args': expected the keys 'cxx' and 'nvcc', got "
    assert str(error.value) == message + repr(unknown)
