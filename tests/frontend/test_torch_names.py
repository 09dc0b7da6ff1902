"""The statuses and arguments of torch's public names in docs/torch_names.md are those of the package."""

import json
import re
import sys
from pathlib import Path

import children
import lamella
import pytest
from lamella._torch.run import find_script, outlook, table
from lamella._torch.run.check import report

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "frontend" / "lamella" / "_torch" / "run"
PAGE = ROOT / "docs" / "torch_names.md"
ROW = re.compile(r"^\| ((?:here|refused|planned|not coming).*) \| (.*) \|$", re.MULTILINE)


def statuses(page):
    """Returns the status of each name in a page."""
    found = {}
    for part in page.split("\n## ")[1:]:
        module, _, rest = part.partition("\n")
        for status, names in ROW.findall(rest):
            for name in re.findall(r"`(\w+)`", names):
                assert (module, name) not in found, f"{module}.{name} is listed twice"
                found[module, name] = status
    return found


@pytest.mark.needs("autograd")
@pytest.mark.needs("profiler")
def test_the_page_is_true(tmp_path):
    tool = ROOT / "tools" / "torch_names.py"
    made = children.run(sys.executable, tool, LAMELLA_PLUGINS=children.OWN_PLUGINS, cwd=tmp_path)
    held = PAGE.read_text()
    want, got = statuses(made), statuses(held)
    changed = [
        f"{'.'.join(k)}: the page says {got.get(k)!r}, it is {want.get(k)!r}"
        for k in sorted({*want, *got})
        if want.get(k) != got.get(k)
    ]
    assert not changed, "run `make stubs`, or `python tools/torch_names.py docs/torch_names.md`:\n" + "\n".join(changed)
    assert made.strip() == held.strip()


def test_each_name_of_torch_is_on_the_page_once():
    page = statuses(PAGE.read_text())
    recorded = outlook.recorded()
    names = {("Tensor" if m == "torch.Tensor" else m, n) for m, listed in recorded.items() for n in listed}
    assert set(page) == names and len(names) > 5000
    areas = json.loads((ROOT / "tests" / "recorded" / "areas.json").read_text())
    for area, listed in areas.items():
        module = area.partition(":")[0]
        missing = [n for n in listed if n not in recorded.get(module, {})]
        assert not missing, f"{module}: {missing}"


def test_counts_of_the_summary():
    text = PAGE.read_text()
    [cells] = re.findall(r"^\| \*\*all\*\* \| (.*) \|$", text, re.MULTILINE)
    total, *kinds = map(int, cells.split(" | "))
    page = statuses(text)
    words = ("here", "refused", "planned", "not coming")
    assert kinds == [sum(s.startswith(w) for s in page.values()) for w in words] and total == len(page)


def test_the_data_is_small():
    assert sum(p.stat().st_size for p in FOLDER.glob("*.json")) < 400_000 and PAGE.stat().st_size < 400_000


def test_each_outlook_names_something_of_torch():
    recorded = outlook.recorded()
    for place, rules in outlook.outlook().items():
        module = place.removesuffix(".*")
        inside = [m for m in recorded if m == module or m.startswith(f"{module}.")]
        assert inside, place
        for name in rules:
            assert name == "*" or name in recorded[module], f"{place}.{name}"


@pytest.mark.parametrize(
    "module, name, kind",
    [
        ("torch", "add", "here"),
        ("torch.nn", "Linear", "here"),
        ("torch", "compile", "refused"),
        ("torch.optim", "Adam", "here"),
        ("torch.nn.parallel", "DistributedDataParallel", "here"),
        ("torch.fx", "Graph", "not coming"),
        ("torch.fx.passes.reinplace", "reinplace", "not coming"),
        ("torch.distributed.fsdp", "FullyShardedDataParallel", "planned"),
        ("torch.nn", "NoModule", "unknown"),
        ("torch.Tensor", "volatile", "not coming"),
    ],
)
def test_statuses(module, name, kind):
    assert table.status(module, name).kind == kind


def lacking_some():
    """Returns names of torch whose functions here lack an argument, each with the argument."""
    some = [(m, n, s.lacking) for m, n, s in table.every() if s.lacking and m in ("torch", "torch.autograd.graph")]
    return [(f"{m}.{n}", lacking[-1]) for m, n, lacking in some]


def test_a_call_with_an_argument_that_is_lacking_is_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lamella._torch.run.check.names.stand_in", lambda: None)
    for path, argument in lacking_some():
        (tmp_path / "main.py").write_text(f"import torch\nx = 1\n{path}({argument}=x)\n")
        assert report(find_script("main.py")) == [
            f"main.py:3: {path}: it has no argument '{argument}', which torch has"
        ]
        function = getattr(table.place(path.rpartition(".")[0]), path.rpartition(".")[2])
        with pytest.raises(TypeError):
            function(**{argument: 1})


def test_a_call_with_arguments_that_are_here_is_not_reported(tmp_path, monkeypatch):
    """The check reports no call of a function of torch with all arguments that Lamella's function has, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lamella._torch.run.check.names.stand_in", lambda: None)
    calls = []
    for module, listed in outlook.recorded().items():
        for name, text in listed.items():
            if module in ("torch", "torch.nn", "torch.nn.functional", "torch.optim") and text:
                found = table.status(module, name)
                taken = table.taken(getattr(lamella, name, None)) if module == "torch" else None
                if found.kind == "here" and not found.lacking and taken is not None:
                    given = ", ".join(f"{a}=x" for a in outlook.arguments(text) if a in taken)
                    calls.append(f"{module}.{name}({given})")
    (tmp_path / "main.py").write_text("import torch\nx = 1\n" + "\n".join(calls) + "\n")
    assert len(calls) > 300 and report(find_script("main.py")) == []


def test_reasons_are_those_of_the_page():
    from lamella._torch.run.names import reason

    assert reason("torch.fx.Graph").startswith("lamella.fx.Graph is not planned: it is torch's graph of Python code")
    assert "is planned with distributed training" in reason("torch.distributed.fsdp.MixedPrecision")
    assert "does not exist and is not planned" in reason("torch.no_such_name")
