"""The folder of the CUDA backend, ``plugin.py``. In a program ``lamella.backends.cuda`` has torch's switches beside it."""
