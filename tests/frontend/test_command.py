"""The command line: its output, and its errors of one line."""

import subprocess
import sys


def command(*words):
    return subprocess.run([sys.executable, "-m", "lamella", *words], capture_output=True, text=True, timeout=100)


def test_it_is_a_module_of_python():
    done = command("plugins", "--load")
    assert done.returncode == 0 and "cpu " in done.stdout and " found" not in done.stdout, done.stdout + done.stderr


def test_an_operator_s_table_with_a_device():
    done = command("ops", "show", "add.Tensor", "--device", "cpu")
    assert done.returncode == 0 and "device     cpu" in done.stdout, done.stdout + done.stderr


def test_what_is_not_there_is_one_line():
    for words in (("ops", "list", "--device", "nosuch"), ("ops", "show", "add", "--device", "nosuch")):
        done = command(*words)
        assert done.returncode == 1 and not done.stdout, done.stdout
        assert "there is no backend 'nosuch'" in done.stderr and done.stderr.count("\n") == 1, done.stderr
    done = command("ops", "show", "nosuch")
    assert done.returncode == 1 and done.stderr == "lamella: there is no operator nosuch\n"
