"""Helpers for tests of the build helper: sources, compilers that count or stop, programs with their own cache."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

from children import clean_environment, run

# The C source of self + self * factor: it compiles in 0.05 s, while the C++ headers take 0.4 s.
OPERATOR = """
#include <lamella/c_api.h>
static const lamella_api* api;
static lamella_status scaled(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  lamella_value in[3] = {args[0], args[0], {LAMELLA_INT}};
  in[2].as.i = FACTOR;
  return api->call(f, api->find_operator("aten::add", "Tensor"), in, 3, rets, 1);
}
extern "C" __attribute__((visibility("default"))) lamella_status lamella_plugin_init(const lamella_api* table) {
  api = table;
  lamella_library* library;
  lamella_library_def built = {sizeof built, LAMELLA_TARGET_VERSION, "built", __FILE__, LAMELLA_DEFINES};
  lamella_operator_def op = {sizeof op};
  op.schema = "scaled(Tensor self) -> Tensor";
  lamella_kernel_def kernel = {sizeof kernel, 0, scaled, nullptr, __FILE__, __LINE__, 1};
  if (lamella_status st = api->library_open(&built, &library)) return st;
  if (lamella_status st = api->define(library, &op, nullptr)) return st;
  return api->kernel(library, "scaled", "composite", &kernel, nullptr);
}
"""
# The operator self + self * factor in C++.
LIBRARY = """
#include <lamella/library.h>
static lamella_status scaled(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  const lamella_value in[3] = {args[0], args[0], lamella::value(FACTOR)};
  return lamella::api().call(f, lamella::api().find_operator("aten::add", "Tensor"), in, 3, rets, 1);
}
LAMELLA_LIBRARY(built, m) {
  m.define("scaled(Tensor self) -> Tensor");
  m.impl("scaled", "composite", scaled);
}
"""
LOAD = """
import sys, lamella
from lamella.utils.cpp_extension import load_inline
mine = load_inline("built", sys.argv[1], no_implicit_headers=True)
print(mine.scaled(lamella.tensor([1, 2])).tolist())
"""


def operator(factor):
    return OPERATOR.replace("FACTOR", str(factor))


def library_operator(factor):
    return LIBRARY.replace("FACTOR", str(factor))


class Bench:
    """A cache in a folder of its own, and child processes that run programs with this cache."""

    def __init__(self, folder):
        self.folder = folder
        self.cache = folder / "cache"
        self.env = {"LAMELLA_EXTENSIONS_DIR": str(self.cache), "CCACHE_DISABLE": "1", "MAX_JOBS": "1"}

    def environment(self, **env):
        return clean_environment(**(self.env | env))

    def run(self, program, *arguments, **env):
        return run(sys.executable, "-c", textwrap.dedent(program), *arguments, cwd=self.folder, **(self.env | env))

    def start(self, program, *arguments, prefix=(), **env):
        """Starts a program as a process in a group of its own."""
        return subprocess.Popen(
            [*prefix, sys.executable, "-c", textwrap.dedent(program), *arguments],
            cwd=self.folder,
            env=self.environment(**env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def fails(self, program, *arguments, prefix=(), **env):
        """Runs a program, which must raise an exception, and returns the last traceback."""
        process = self.start(program, *arguments, prefix=prefix, **env)
        output, errors = process.communicate(timeout=100)
        assert process.returncode == 1, f"it ended with {process.returncode}\n{output}\n{errors}"
        return errors[errors.rindex("Traceback") :] if "Traceback" in errors else errors

    def compiler(self, name, before):
        """Makes a compiler that runs a few lines of shell before each compilation."""
        script = self.folder / name
        script.write_text(f'#!/bin/sh\ncase " $* " in *" -c "*)\n{before}\n;; esac\nexec g++ "$@"\n')
        script.chmod(0o755)
        return str(script)

    def counting(self):
        """Returns a compiler that counts its compilations, and a function that returns their number."""
        count = self.folder / "compiled"
        compiler = self.compiler("counting", f'echo "$*" >> {count}')
        return compiler, lambda: len(count.read_text().splitlines()) if count.exists() else 0

    def files(self, pattern):
        return sorted(self.cache.glob(pattern))

    def is_tidy(self):
        """Returns whether finished builds have left neither folders nor locks."""
        return not self.files("builds/*") and not self.files("locks/*")


def wait_for(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.02)


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()


def mounts():
    """Returns whether this user may mount folders in a namespace of its own."""
    return subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


def mounted(folder: Path, how: str):
    """Returns a command prefix; the command then sees the folder read-only, or as a small disk."""
    command = {
        "read-only": 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0"',
        "small": 'mount -t tmpfs -o size=200k,mode=700 none "$0"',
    }[how]
    return ("unshare", "-m", "sh", "-c", f'{command} && exec "$@"', str(folder))
