"""The folder of the CUDA backend, ``plugin.py``; in a program ``lamella.backends.cuda`` has torch's switches, too."""
