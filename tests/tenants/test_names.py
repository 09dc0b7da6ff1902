"""The plugin that names dimensions, on three devices: names_checks.py runs in a child where names.py is installed."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from children import Guest, run
from compiled import compile_library
from environments import PIP, fresh_environment

pytestmark = pytest.mark.needs("autograd")

HERE = Path(__file__).resolve().parent
CHECKS = re.findall(r"^def (check_\w+)", (HERE / "names_checks.py").read_text(), re.M)
# A change of names.cpp or names.py, and the checks that must fail then.
PLANTED = {
    "the slot is not saved": (
        "names.cpp",
        "const OwnedValue& save(const Tensor&) const { return list; }",
        "OwnedValue save(const Tensor&) const { return {}; }",
        {"check_pickles_and_files", "check_copies"},
    ),
    "the slot leaves gradients without names": (
        "names.cpp",
        "how == LAMELLA_CARRY_GRADIENT",
        "false",
        {"check_gradients"},
    ),
    "the slot refuses other sizes": (
        "names.cpp",
        "return Names{};",
        "return std::nullopt;",
        {"check_views_in_place"},
    ),
    "a rule loses names": (
        "names.py",
        'if text == "broadcast" else lists[0]',
        'if text == "broadcast" else [None] * len(lists[0])',
        {"check_softmax", "check_operators_of_others"},
    ),
    "a rule forgets the order": (
        "names.py",
        "lists[0][::-1]",
        "lists[0]",
        {"check_transposes", "check_views_in_place"},
    ),
    "names are not compared": (
        "names.py",
        "if a and b and a != b:",
        "if False:",
        {"check_disagreement", "check_in_place"},
    ),
}


def install(factory, folder, sources):
    """Writes the plugin `names` as a package, as pip would, from its two sources; returns the folder to import from."""
    package = folder / "named"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(sources["names.py"])
    shutil.copy(compile_library(factory, sources["names.cpp"]), package / "names.so")
    info = folder / "tenant_names-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tenant-names\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[lamella.plugins]\nnames = named\n")
    return folder


def failures(guest, device):
    """Returns the failure of each check on a device."""
    return json.loads(
        run(guest.python, HERE / "names_checks.py", device, cwd=guest.folder, **guest.env).splitlines()[-1]
    )


@pytest.fixture(scope="session")
def sources():
    return {name: (HERE / name).read_text() for name in ("names.py", "names.cpp")}


@pytest.fixture(scope="session")
def hosts(tmp_path_factory, sources, request):
    """Returns the failures on a device, which are found once. The device "bank" comes from the example's wheel."""
    root = tmp_path_factory.mktemp("names")
    plugin = {"PYTHONPATH": str(install(tmp_path_factory, root / "packages", sources))}
    found = {}

    def on(device):
        if device not in found:
            python = sys.executable
            if device == "bank":
                wheels, python = request.getfixturevalue("wheels"), fresh_environment(root / "venv")
                options = ("install", "-q", "--no-deps", "--no-index", "--find-links", wheels)
                run(*PIP, "--python", python, *options, "lamella-bank", cwd=root)
            found[device] = failures(Guest(python, root, plugin), device)
        return found[device]

    return on


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("device", ["cpu", "meta", "bank"])
def test_names(hosts, device, check):
    if failure := hosts(device)[check]:
        pytest.fail(failure, pytrace=False)


def test_no_back_door(sources):
    """The plugin uses no name that begins with an underscore."""
    for text in sources.values():
        assert not re.search(r"(\.|import |::)_\w", text)


@pytest.mark.parametrize("defect", PLANTED)
def test_a_planted_defect_is_found(tmp_path_factory, tmp_path, sources, defect):
    file, was, becomes, found_by = PLANTED[defect]
    assert sources[file].count(was) == 1
    changed = sources | {file: sources[file].replace(was, becomes)}
    guest = Guest(
        sys.executable, tmp_path, {"PYTHONPATH": str(install(tmp_path_factory, tmp_path / "packages", changed))}
    )
    failed = {name for name, failure in failures(guest, "cpu").items() if failure}
    assert found_by <= failed
