"""``python -m lamella`` is the command ``lamella``."""

import sys

from lamella.cli import main

sys.exit(main())
