"""Files of torch: ``archive.py`` reads and writes them, by a pickle interpreter (``opcodes.py``) that runs no code."""
