"""Follows a page that shows a package: writes its files, and runs its commands."""

import os
import subprocess
import sys

from pages import ROOT, blocks


def install(page, files, folder, guest):
    """Writes the files, whose languages are given, and runs the page's commands with a pip for the guest."""
    for language, name in files.items():
        text, *more = blocks(page, language)
        assert language == "python" or (not more and f"`{name}`" in (ROOT / page).read_text())
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    shims = folder / "bin"
    shims.mkdir()
    (shims / "pip").write_text(f'#!/bin/sh\nexec {sys.executable} -m pip --python {guest.python} "$@"\n')
    (shims / "pip").chmod(0o755)
    # These variables stop pip from using the network or copying installed packages; the commands stay as they are.
    settings = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INPUT": "1"}
    settings["PATH"] = os.pathsep.join([str(shims), os.path.dirname(guest.python), os.environ["PATH"]])
    for command in blocks(page, "sh"):
        env = os.environ | settings
        done = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return guest
