"""``python -m lamella_headers``: prints the flags for building an extension, as `lamella config` does."""

from __future__ import annotations

import argparse
import sys

from .config import add_arguments, config


def main() -> int:
    parser = argparse.ArgumentParser(prog="lamella-headers", description="What building an extension needs.")
    add_arguments(parser)
    try:
        print(config(parser.parse_args()))
    except LookupError as error:
        print(f"lamella-headers: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
