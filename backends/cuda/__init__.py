"""The folder of the CUDA backend; ``plugin.py`` registers it. ``lamella.backends.cuda`` also has torch's switches."""
