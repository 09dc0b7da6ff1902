"""The npm package of bindings/node: npm builds it, and Node runs programs that Python has saved."""

import cmath
import json
import re
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

import lamella
import ml_dtypes
import numpy as np
import pytest
from children import clean_environment, run
from native import TOP

SOURCE = TOP / "bindings/node"
SCRIPTS = Path(__file__).parent / "node"
pytestmark = [
    pytest.mark.needs("graph"),
    pytest.mark.skipif(not shutil.which("node"), reason="node is not installed: apt-get install nodejs"),
    pytest.mark.skipif(bool(shutil.which("node")) and not shutil.which("npm"), reason="this Node came without npm"),
]


@pytest.fixture(scope="module")
def programs():
    import node_programs  # it uses the plugin when it is imported

    return node_programs


@pytest.fixture(scope="module")
def app(tmp_path_factory, programs):
    """A folder with the package installed from a tarball that npm packs, and with programs."""
    folder = tmp_path_factory.mktemp("node")
    package = shutil.copytree(SOURCE, folder / "package", ignore=shutil.ignore_patterns("build", "node_modules"))
    env = {"npm_config_audit": "false", "npm_config_fund": "false", "npm_config_update_notifier": "false"}
    [packed] = json.loads(run("npm", "pack", "--json", cwd=package, **env))
    app = folder / "app"
    app.mkdir()
    (app / "package.json").write_text('{"name": "app", "version": "1.0.0", "private": true}')
    run("npm", "install", str(package / packed["filename"]), cwd=app, **env)
    for script in SCRIPTS.iterdir():
        shutil.copy(script, app)
    for name in ("Flow", "Slow", "Scaled", "Values"):
        lamella.jit.script(getattr(programs, name)()).save(str(app / f"{name}.lamella"))
    return app


def node(app, script, *arguments, **env):
    """Runs a script, and returns what it prints."""
    return run("node", "--expose-gc", f"{script}.js", *map(str, arguments), cwd=app, **env)


def answers(app, script, *arguments):
    return json.loads(node(app, script, *arguments))


@pytest.mark.long
def test_the_session_of_the_talk(app, programs, tmp_path):
    """The session prints what the talk's does; its numbers are those of eager Python, bit for bit."""
    lamella.manual_seed(0)
    net = programs.Classifier().eval()
    image = lamella.ones(1, 3, 224, 224)
    lamella.jit.trace(net, image).save(str(tmp_path / "trace.lamella"))
    said = node(app, "session", tmp_path / "trace.lamella", tmp_path / "result", OMP_NUM_THREADS="2")
    kind = "Tensor[Type=CPUFloatType, "
    assert said.splitlines() == [f"{kind}Size=[1, 3, 224, 224]]", f"{kind}Size=[1, 1000]]"]
    with lamella.no_grad():
        expected = net(image).numpy()
    found = np.frombuffer((tmp_path / "result").read_bytes(), np.float32)
    assert np.ptp(found) > 0.1
    np.testing.assert_array_equal(found, expected[0])


# Each call is a method, its arguments in JavaScript and in Python, and how the result looks in JSON, if it is no equal.
CALLS = [
    ("integer", "41", (41,), None),
    ("integer", "-7n", (-7,), None),
    ("integer", "true", (True,), None),
    ("floating", "3", (3.0,), None),
    ("floating", "0.1", (0.1,), None),
    ("floating", "1e300", (1e300,), None),
    ("boolean", "true", (True,), None),
    ("texts", "'grün \\u0000 𝄞'", ("grün \0 𝄞",), None),
    ("texts", "''", ("",), None),
    ("complexes", "2.5", (2.5 + 0j,), lambda z: {"re": z.real, "im": z.imag}),
    ("numbers", "[1, 2, 3n]", ([1, 2, 3],), None),
    ("numbers", "[]", ([],), None),
    ("floats", "[1, 0.25]", ([1.0, 0.25],), None),
    ("tuples", "[5, 'a'], [[1, 2.5], []]", ((5, "a"), [[1.0, 2.5], []]), list),
    ("counts", "['a', 'b', 'a', '__proto__']", (["a", "b", "a", "__proto__"],), None),
    ("counts", "[]", ([],), None),
    ("table", "{a: 1, b: 2.5}", ({"a": 1.0, "b": 2.5},), lambda d: {"map": [list(x) for x in d.items()]}),
    ("table", "new Map([['z', 9]])", ({"z": 9.0},), lambda d: {"map": [list(x) for x in d.items()]}),
    ("keys", "new Map([[1, 'x'], [2, 'y']])", ({1: "x", 2: "y"},), None),
    ("optional", "null", (None,), None),
    ("optional", "undefined", (None,), None),
    ("optional", "21", (21,), None),
    ("optional", "", (), None),
    ("default", "4", (4,), None),
    ("default", "4, 5", (4, 5), None),
    ("pair", "3", (3,), list),
    ("point", "3", (3,), lambda p: {"x": p.x, "name": p.name}),
    ("large", "2n ** 62n", (2**62,), lambda n: {"bigint": str(n)}),
    ("large", "2 ** 53 - 1", (2**53 - 1,), None),
]


def test_values_are_those_of_python(app, programs):
    """Python itself runs the method for each call."""
    module = programs.Values()
    expected = []
    for name, _, arguments, shown in CALLS:
        result = getattr(module, name)(*arguments)
        expected.append(shown(result) if shown else result)
    found = answers(app, "values", "Values.lamella", json.dumps([[name, text] for name, text, *_ in CALLS]))
    assert dict(enumerate(found)) == dict(enumerate(json.loads(json.dumps(expected))))
    assert cmath.isfinite(expected[9]["re"])


def test_tensors_in_lists_and_objects(app):
    call = "[lamella.tensor([1, 2]), Float32Array.of(3, 4)], {factor: lamella.tensor(10)}"
    calls = [["tensors", call], ["dtype_of", "Int16Array.of(1)"], ["dtype_of", "lamella.tensor([1n])"]]
    total, short, long = answers(app, "values", "Values.lamella", json.dumps(calls))
    assert total == {
        "sum": {"dtype": "float32", "list": [4, 6]},
        "product": {"dtype": "float32", "list": [10, 20]},
    }
    assert (short, long) == ("int16", "int64")


def test_views_shapes_and_dtypes(app):
    assert node(app, "tensors", "Values.lamella") == "ok\n"


def test_elements_are_the_bytes_of_numpy(app):
    numbers = [0, 1, -1.5, 3.14159265358979, 65504, 1e-8, 2.0**-24]
    dtypes = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
    found = answers(app, "bits", json.dumps(dtypes), json.dumps(numbers))
    for dtype in dtypes:
        kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
        assert found[dtype] == np.array(numbers, np.float64).astype(kind).tobytes().hex(), dtype
    whole = [0, 1, 2, 127]
    dtypes = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "bool"]
    found = answers(app, "bits", json.dumps(dtypes), json.dumps(whole))
    assert found == {dtype: np.array(whole).astype(dtype).tobytes().hex() for dtype in dtypes}


def test_the_loop_turns_while_a_call_runs(app):
    """A call by a promise leaves the event loop free; one at once does not, which shows that the count can fail."""
    later, now = (answers(app, "loop", "Slow.lamella", how, 300_000) for how in ("later", "now"))
    assert later["right"] and now["right"]
    assert now["during"] == 0
    assert later["during"] > 20, later


def test_a_hundred_calls_at_once(app):
    found = answers(app, "parallel", "Scaled.lamella")
    assert found == [[2 * i, 2 * i + 1] for i in range(100)]


def test_threads_of_javascript_have_addons_of_their_own(app):
    found = answers(app, "workers", "Scaled.lamella")
    assert found == [[2 * (start + i) for i in range(4)] for start in (0, 10, 20, 30, 40)]


GROWTH = 60 * 2**20  # the results of 10000 calls are 400 MB


@pytest.mark.parametrize("how", ["later", "now"])
def test_memory_does_not_grow(app, how):
    assert int(node(app, "memory", "Scaled.lamella", how)) < GROWTH


def test_memory_grows_if_results_are_kept(app):
    assert int(node(app, "memory", "Scaled.lamella", "keep")) > 5 * GROWTH


# Each is an expression, with `m` the program Values, and the error: its class, its message, and where it comes up.
ERRORS = [
    ("m.forward(() => 1)", "TypeError", r"forward: argument 1 must be a Tensor, .*, got a function", "rejected"),
    ("m.forwardSync(Symbol('a'))", "TypeError", "forward: argument 1 must be .*, got a symbol", "thrown"),
    ("m.forward(new Date())", "TypeError", "forward: argument 1 must be .*, got an object of class Date", "rejected"),
    ("m.forward(m.forward(lamella.ones([1])))", "TypeError", "argument 1 is a promise: await it first", "rejected"),
    ("m.callMethod('numbers', [1, {a: /x/}])", "TypeError", r"argument 1\[1\]\[a\] must be .*RegExp", "rejected"),
    (
        "(() => { const a = []; a.push(a); return m.forward(a); })()",
        "TypeError",
        r"forward: argument 1 is nested more than 100",
        "rejected",
    ),
    ("m.callMethod('large', 2n ** 63n)", "RangeError", "argument 1 is a BigInt that int64 does not hold", "rejected"),
    ("m.forward(3)", "TypeError", "'x' has to be Tensor, got 3", "rejected"),
    ("m.forward()", "TypeError", "forward.*x", "rejected"),
    ("m.forward(lamella.ones([1]), 2)", "TypeError", "forward", "rejected"),
    ("m.callMethodSync('integer', 1.5)", "TypeError", "'n' has to be int, got 1.5", "thrown"),
    ("m.callMethodSync('integer', 'a')", "TypeError", "'n' has to be int, got 'a'", "thrown"),
    ("m.callMethod('nothing')", "Error", "nothing", "rejected"),
    ("m.callMethod(3)", "TypeError", "callMethod: argument 'name' must be a string, got a number", "rejected"),
    ("m.method('nothing')", "TypeError", "the program has no method 'nothing'; it has .*integer", "thrown"),
    ("m.callMethod('refused', 2)", "Error", "2 is too many", "rejected"),
    ("m.callMethod('element', [1], 5)", "RangeError", "index", "rejected"),
    ("m.forward.call({}, 1)", "TypeError", "Illegal invocation", "thrown"),
    ("lamella.ScriptModule('Flow.lamella')", "TypeError", "call it with 'new'", "thrown"),
    ("new lamella.ScriptModule()", "TypeError", "argument 'path' must be a string or a Buffer, got und", "thrown"),
    ("lamella.load('nowhere.lamella')", "Error", "nowhere.lamella", "thrown"),
    ("lamella.load('app.txt')", "Error", "app.txt", "thrown"),
    ("new lamella.Tensor()", "TypeError", r"make a tensor by tensor\(\)", "thrown"),
    ("Object.create(lamella.Tensor.prototype).shape", "TypeError", "'this' must be a Tensor", "thrown"),
    ("lamella.ones(3)", "TypeError", "argument 'shape' must be an array of whole numbers, got a number", "thrown"),
    ("lamella.ones([2, -1])", "TypeError", r"whole numbers from 0 on, got -1 at \[1\]", "thrown"),
    ("lamella.ones([1.5])", "TypeError", r"got 1.5 at \[0\]", "thrown"),
    ("lamella.ones(['a'])", "TypeError", r"got a string at \[0\]", "thrown"),
    ("lamella.ones([2 ** 50])", "Error", "memory|bytes", "thrown"),
    ("lamella.ones([1], true)", "TypeError", "gradients are not recorded", "thrown"),
    ("lamella.ones([1], 'floaty')", "TypeError", "argument 'dtype' must be the name of a dtype.*'floaty'", "thrown"),
    ("lamella.zeros([1], 3)", "TypeError", "zeros: argument 'dtype' must be a string, got a number", "thrown"),
    ("lamella.tensor(Float32Array.of(1, 2, 3), [2, 2])", "TypeError", "needs 4 elements, and the data has 3", "thrown"),
    ("lamella.tensor([1, 2], [2 ** 40, 2 ** 40])", "TypeError", "needs more elements than", "thrown"),
    ("lamella.tensor([[1, 2], [3]])", "TypeError", r"ragged: 1 elements at data\[1\], and others have 2", "thrown"),
    ("lamella.tensor([[1], 2])", "TypeError", r"ragged: a number at data\[1\]", "thrown"),
    ("lamella.tensor([1, [2]])", "TypeError", r"got an array.* at data\[1\]", "thrown"),
    ("lamella.tensor([1, 2n])", "TypeError", r"a number and a bigint, at data\[1\]", "thrown"),
    ("lamella.tensor([1, null])", "TypeError", r"got null, at data\[1\]", "thrown"),
    ("lamella.tensor('abc')", "TypeError", "argument 'data' must be .*, got a string", "thrown"),
    ("lamella.tensor(new DataView(new ArrayBuffer(8)))", "TypeError", "class DataView", "thrown"),
    ("lamella.tensor([2n ** 63n])", "RangeError", "int64 does not hold", "thrown"),
    ("lamella.tensor([1, 2]).item()", "TypeError", "has 2 elements", "thrown"),
    ("lamella.tensor([1]).to(3)", "TypeError", "to: argument 'dtype' must be a string", "thrown"),
]


def test_errors(app):
    (app / "app.txt").write_text("no program")
    found = answers(app, "errors", "Values.lamella", json.dumps([e for e, *_ in ERRORS]))
    wrong = [
        (expression, got)
        for (expression, kind, message, at), got in zip(ERRORS, found, strict=True)
        if got[0] != kind or got[2] != at or not re.search(message, got[1])
    ]
    assert wrong == []


def test_errors_of_programs_have_the_name_that_python_has(app):
    expressions = ["m.callMethod('refused', 2)", "m.callMethod('element', [1], 5)", "m.forward(3)"]
    codes = [got[3] for got in answers(app, "errors", "Values.lamella", json.dumps(expressions))]
    assert codes == ["ValueError", "IndexError", "TypeError"]


def test_damaged_files_are_errors(app, tmp_path):
    whole = (app / "Flow.lamella").read_bytes()
    names = []
    for i, at in enumerate(range(0, len(whole), max(1, len(whole) // 40))):
        cut, flipped = tmp_path / f"cut{i}", tmp_path / f"flipped{i}"
        cut.write_bytes(whole[:at])
        flipped.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        names += [cut, flipped]
    found = answers(app, "errors", "Flow.lamella", json.dumps([f"lamella.load({json.dumps(str(n))})" for n in names]))
    cut = [got for name, got in zip(names, found, strict=True) if name.name.startswith("cut")]
    assert [got[0] for got in cut] == ["Error"] * len(cut)
    assert {got[0] for got in found} <= {"Error", "no error: [object ScriptModule]", "no error: [object Object]"}


def test_the_process_may_end_while_a_call_runs(app):
    """Node waits for the calls that its pool runs, and ends as it was asked to."""
    (app / "ends.js").write_text(
        "const m = require('lamella').load('Slow.lamella');\n"
        "for (let i = 0; i < 8; i++) m.forward(require('lamella').ones([10]), 20000);\n"
        "setTimeout(() => process.exit(7), 5);\n"
    )
    done = subprocess.run(["node", "ends.js"], cwd=app, capture_output=True, text=True, env=clean_environment())
    assert (done.returncode, done.stderr) == (7, "")


def exported():
    """The names that index.js exports."""
    [names] = re.findall(r"module\.exports = \{ (.*) \};", (SOURCE / "index.js").read_text())
    return set(names.split(", "))


def test_types_describe_what_is_exported():
    text = (SOURCE / "index.d.ts").read_text()
    assert set(re.findall(r"^export (?:class|function|const) (\w+)", text, re.MULTILINE)) == exported()


TYPED = """
import * as lamella from 'lamella';
async function run(): Promise<void> {
  const m: lamella.ScriptModule = lamella.load('Flow.lamella');
  const x = lamella.tensor(Float32Array.of(1, 2), [1, 2]);
  const y: lamella.Tensor = await m.forward(x, { a: [1, 2n, 'b', null] }, new Map([[1, x]]));
  const shape: number[] = y.shape;
  const inverse = m.method('inverse');
  const z: lamella.Tensor = inverse.sync(await inverse(y));
  lamella.ones([1, 3, 224, 224], false);
  lamella.zeros([2], { dtype: 'int64' });
  console.log(shape, z.data.length, z.tolist(), String(z), m.methods, lamella.libraryVersion);
MISTAKE
}
run();
"""
MISTAKES = ["lamella.ones(3);", "m.forward(() => 1);", "y.shape = [1];", "lamella.tensor('a');", "m.forwards(x);"]


@pytest.mark.long
def test_types_compile(app):
    """The compiler of TypeScript accepts a program, and finds each mistake."""
    installed = subprocess.run(
        ["npm", "install", "--no-save", "--no-audit", "--no-fund", "typescript@5"],
        cwd=app,
        capture_output=True,
        text=True,
        env=clean_environment(),
    )
    if installed.returncode:
        pytest.skip("npm cannot install typescript: its registry is out of reach")
    flags = ["--noEmit", "--strict", "--target", "es2020", "--module", "commonjs"]

    def compile(mistake):
        (app / "typed.ts").write_text(TYPED.replace("MISTAKE", mistake))
        command = ["node_modules/.bin/tsc", *flags, "typed.ts"]
        return subprocess.run(command, cwd=app, capture_output=True, text=True, env=clean_environment())

    right = compile("")
    assert right.returncode == 0, right.stdout
    for mistake in MISTAKES:
        found = compile(mistake)
        assert found.returncode and "typed.ts" in found.stdout, mistake


def test_the_version_is_that_of_the_project(app):
    assert json.loads((SOURCE / "package.json").read_text())["version"] == version("lamella")
    said = run("node", "-p", "require('lamella').libraryVersion", cwd=app)
    assert said.strip() == version("lamella")


def test_without_the_library_the_build_says_what_to_do(tmp_path):
    package = shutil.copytree(SOURCE, tmp_path / "package", ignore=shutil.ignore_patterns("build", "node_modules"))
    (tmp_path / "empty").mkdir()
    command = ["node", "build.js"]
    env = clean_environment(LAMELLA_HOME=str(tmp_path / "empty"))
    done = subprocess.run(command, cwd=package, capture_output=True, text=True, env=env)
    assert done.returncode == 1
    assert f"there is no liblamella_run.so in {tmp_path}/empty" in done.stderr and "LAMELLA_HOME" in done.stderr
    used = subprocess.run(["node", "-e", "require('.')"], cwd=package, capture_output=True, text=True, env=env)
    assert used.returncode == 1 and "is not built; run 'node build.js'" in used.stderr
