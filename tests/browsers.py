"""Pages in a real browser without a window: the document after its scripts have run, and a picture of it."""

import shutil
import subprocess

import pytest


class Browser:
    """Chromium, with its files in a folder of their own."""

    def __init__(self, folder):
        self.program = shutil.which("chromium")
        if not self.program:
            pytest.skip("chromium is not installed: apt-get install chromium")
        self.folder = folder

    def _run(self, page, milliseconds, option):
        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            f"--user-data-dir={self.folder / 'user'}",
            "--window-size=1100,900",
            f"--virtual-time-budget={milliseconds}",
        ]
        done = subprocess.run(
            [self.program, *options, option, str(page)], capture_output=True, text=True, timeout=240, check=True
        )
        return done.stdout

    def document(self, page, milliseconds=3000):
        """Returns the document of an address, as HTML, after so many milliseconds of the page's own time."""
        return self._run(page, milliseconds, "--dump-dom")

    def picture(self, page, milliseconds=3000):
        """Returns a picture of an address, a PNG."""
        path = self.folder / "page.png"
        self._run(page, milliseconds, f"--screenshot={path}")
        return path.read_bytes()
