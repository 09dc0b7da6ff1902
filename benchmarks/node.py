"""Calls of a program from Node.js beside the same calls from Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import common

SOURCE = Path(__file__).parent.parent / "bindings/node"
NUMBERS = 100
# Reads a number of calls from each line, and writes the seconds that they took.
LOOP = """
const lamella = require(process.argv[2]);
const m = lamella.load(process.argv[3]);
const numbers = new Float32Array(JSON.parse(process.argv[4]));
const calls = {
  now: async (n) => { for (let i = 0; i < n; i++) m.forwardSync(lamella.tensor(numbers)).data; },
  later: async (n) => { for (let i = 0; i < n; i++) (await m.forward(lamella.tensor(numbers))).data; },
};
require('readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const [how, n] = line.split(' ');
  const begin = process.hrtime.bigint();
  await calls[how](Number(n));
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
  console.log(JSON.stringify({ seconds, result: [...m.forwardSync(lamella.tensor(numbers)).data] }));
});
"""


def main() -> list[common.Row | common.Limit]:
    if not shutil.which("node"):
        print("Node.js\n-------\nnode is not installed\n")
        return []
    import lamella
    import numpy as np

    class Scaled(lamella.nn.Module):
        def forward(self, x):
            return (x * 2 + 1).relu()

    with tempfile.TemporaryDirectory() as folder:
        package = shutil.copytree(SOURCE, Path(folder, "lamella_node"), ignore=shutil.ignore_patterns("build"))
        env = os.environ | {"PYTHON": sys.executable}
        subprocess.run(["node", "build.js"], cwd=package, env=env, check=True)
        numbers = np.linspace(-1, 1, NUMBERS, dtype=np.float32)
        program = lamella.jit.trace(Scaled(), lamella.tensor(numbers))
        file, script = Path(folder, "scaled.lamella"), Path(folder, "loop.js")
        program.save(str(file))
        script.write_text(LOOP)
        command = ["node", str(script), str(package), str(file), json.dumps(numbers.tolist())]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as node:
            rows = measured(node, program, numbers)
            node.stdin.close()  # type: ignore[union-attr]
    print(common.table("Node.js", rows))
    return [*rows]


def measured(node, program, numbers) -> list[common.Row]:
    import lamella

    def said(how: str, n: int) -> dict:
        node.stdin.write(f"{how} {n}\n")
        node.stdin.flush()
        return json.loads(node.stdout.readline())

    def run(how: str) -> Callable[[int], float]:
        return lambda n: said(how, n)["seconds"]

    names = {"f": program, "tensor": lamella.tensor, "x": numbers}
    with lamella.no_grad():
        common.same({"lamella": said("now", 1)["result"], "python": program(lamella.tensor(numbers)).numpy()})
        python = common.timer("f(tensor(x)).numpy()", names)
        samples = common.measure({"lamella": run("now"), "python": python, "by a promise": run("later")})
    name = f"a program of three operators on {NUMBERS} numbers, from a Float32Array"
    return [common.Row(name, samples, [common.Bound("python", 2)])]


if __name__ == "__main__":
    main()
