"""Tests of programs/ against torch's recorded results: in plain Python, and scripted."""

from __future__ import annotations

import lamella
import pytest
from script_programs import FILES, agrees, encode, load_file, recorded, same

RECORDED = recorded()
PLAIN = [file for file in FILES if file.stem != "refused"]


def entries(program):
    return [(f"{program.name}[{i}]", RECORDED[f"{program.name}[{i}]"]) for i in range(len(program.cases))]


@pytest.mark.parametrize("file", PLAIN, ids=lambda f: f.stem)
def test_plain_python_gives_what_torch_gave(file):
    """The eager operators have the recorded results, so that a wrong scripted result is the script's fault."""
    wrong = {}
    for program in load_file(lamella, file):
        for (name, entry), found in zip(entries(program), program.outcomes(program.make()), strict=True):
            right = entry.get("eager", entry["script"])
            if not same(found, right) and not ("error" in found and "error" in right):
                wrong[name] = (found, right)
    assert wrong == {}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_scripted_program_gives_what_torch_gave(file):
    wrong = {}
    for program in load_file(lamella, file):
        try:
            outcomes = program.outcomes(lamella.jit.script(program.make()))
        except Exception as error:
            outcomes = [{"refused": type(error).__name__, "message": str(error)}] * len(program.cases)
        for (name, entry), found in zip(entries(program), outcomes, strict=True):
            if not agrees(name, entry, found):
                wrong[name] = (found, entry)
    assert wrong == {}


def test_each_entry_has_a_program_and_a_result():
    assert len(RECORDED) > 1300 and len({name.partition("[")[0] for name in RECORDED}) > 800
    assert {name.partition(".")[0] for name in RECORDED} == {file.stem for file in FILES}
    assert all(set(entry) <= {"script", "eager", "differs"} and "script" in entry for entry in RECORDED.values())


def test_refused_programs_are_refused_by_torch():
    found = {name: next(iter(entry["script"])) for name, entry in RECORDED.items() if name.startswith("refused.")}
    assert len(found) > 60 and set(found.values()) == {"refused"}


def test_forms_tell_kinds_apart():
    values = [1, 1.0, True, "1", None, [1], (1,), {1: 1}, 1 + 0j, lamella.tensor(1), lamella.tensor(1.0)]
    texts = [repr(encode(v)) for v in values]
    assert len(set(texts)) == len(values)
    assert encode(lamella.tensor([[1.5, float("nan")]])) == {
        "tensor": "float32",
        "shape": [1, 2],
        "values": [1.5, {"float": "nan"}],
    }
    with pytest.raises(TypeError, match="a result of type object has no form to compare"):
        encode(object())


def test_equality_is_strict_but_for_the_last_digits():
    x = {"tensor": "float32", "shape": [2], "values": [1.0, 0.0]}
    assert same([0.1 + 0.2, "a", None], [0.3, "a", None]) and same(x, x | {"values": [1.0 + 1e-7, -0.0]})
    pairs = [(1, 1.0), (1, True), (0.0, -0.0), (0.3, 0.3001), ([1], [1, 2]), ([1], {"tuple": [1]}), ({"a": 1}, {})]
    pairs += [(x, x | {"tensor": "float64"}), (x, x | {"shape": [1, 2]}), (x, x | {"values": [1.001, 0.0]})]
    assert [pair for pair in pairs if same(*pair)] == []


def test_agreement_follows_the_record():
    value, error, refusal = {"value": 1}, {"error": "ValueError", "message": ""}, {"refused": "E", "message": ""}
    assert agrees("a.b[0]", {"script": value}, value) and not agrees("a.b[0]", {"script": value}, {"value": 2})
    assert not agrees("a.b[0]", {"script": value}, error) and not agrees("a.b[0]", {"script": value}, refusal)
    assert agrees("a.b[0]", {"script": error, "eager": error}, {"error": "TypeError", "message": "another"})
    assert not agrees("a.b[0]", {"script": error}, value)
    assert agrees("a.b[0]", {"script": refusal, "eager": value}, value)
    assert agrees("a.b[0]", {"script": refusal, "eager": value}, refusal)
    assert not agrees("a.b[0]", {"script": refusal, "eager": value}, error)
    assert agrees("refused.b[0]", {"script": refusal}, refusal)
    assert not agrees("refused.b[0]", {"script": refusal}, value)
    assert agrees("a.b[0]", {"script": {"crashed": "SIGFPE"}, "eager": error}, error)
