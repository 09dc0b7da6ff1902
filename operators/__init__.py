"""The catalogue of operators. Its C++ is beside this file; ``lamella.operators.samples`` has sample calls of each."""
