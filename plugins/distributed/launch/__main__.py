"""``python -m lamella.distributed.launch``: the command ``lamella launch``."""

import sys

from . import main

sys.exit(main(sys.argv[1:]))
