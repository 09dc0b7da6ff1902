"""A plugin in Rust, plugin.rs, over bindings that bindgen generates from the C headers alone."""

import re
import shutil
from pathlib import Path

import lamella
import pytest
from compiled import INCLUDE
from on_bank import run

HERE = Path(__file__).parent


def command(name):
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed: apt-get install {name}")
    return name


@pytest.fixture(scope="session")
def rusty(tmp_path_factory):
    bindgen, rustc = command("bindgen"), command("rustc")
    folder = tmp_path_factory.mktemp("rust")
    (folder / "headers.h").write_text("#include <lamella/autograd.h>\n")
    done = run(bindgen, folder / "headers.h", "--allowlist-type", "lamella_.*", "--allowlist-var", "LAMELLA_.*",
               "-o", folder / "bindings.rs", "--", "-I", INCLUDE)  # fmt: skip
    assert done.returncode == 0, done.stderr
    shutil.copy(HERE / "plugin.rs", folder)
    library = folder / "plugin.so"
    done = run(rustc, "--edition", "2021", "--crate-type", "cdylib", "-O", folder / "plugin.rs", "-o", library)
    assert done.returncode == 0, done.stderr
    return lamella.ops.load_library(library)


def test_its_operators(rusty):
    x = lamella.arange(10000.0)
    assert (rusty.twice(x) == x * 2).all() and (rusty.four(x) == x * 4).all()
    assert rusty.twice(lamella.empty(2, 3, device="meta")).shape == (2, 3)
    with pytest.raises(TypeError, match="rusty::twice: argument 'x' must be float32"):
        rusty.twice(lamella.arange(3))
    with pytest.raises(NotImplementedError, match="must be contiguous"):
        rusty.twice(x[::2])
    with pytest.raises(TypeError, match="float32"):  # raised by `twice`, which the composite `four` calls
        rusty.four(lamella.arange(3))


def test_its_rule_is_in_the_one_store(rusty):
    [rule] = lamella.library.rules("rusty::twice")
    assert (rule.layer, rule.kind, rule.payload, rule.owner) == ("autograd", "", None, "plugin.rs")
    with pytest.raises(ValueError, match="no live registration of Python's"):
        rule.remove()
    if hasattr(lamella, "autograd"):
        x = lamella.ones(3, requires_grad=True)
        rusty.four(x).sum().backward()
        assert x.grad.tolist() == [4, 4, 4]


def test_the_constants_are_those_of_the_c_compiler(rusty, tmp_path):
    """bindgen's constants agree with the golden file, which lists the C compiler's."""
    golden = (HERE.parent / "extensions" / "abi_1_0.txt").read_text()
    (tmp_path / "headers.h").write_text("#include <lamella/autograd.h>\n")
    done = run(command("bindgen"), tmp_path / "headers.h", "--", "-I", INCLUDE)
    bindings = re.sub(r"\s*([:=;])\s*", r"\1", done.stdout)  # bindgen's spacing depends on whether rustfmt is installed
    assert "pub const LAMELLA_ABI_VERSION:u32=65536;" in bindings
    for name, value in (("lamella_tag_LAMELLA_UINT", 20), ("lamella_dtype_LAMELLA_BFLOAT16", 10)):
        assert f"pub const {name}:{name.partition('_LAMELLA')[0]}={value};" in bindings
        assert f"{name.partition('_LAMELLA')[0]} LAMELLA{name.partition('_LAMELLA')[2]} = {value}" in golden
