"""The shell of torch: names and commands that only programs written for torch need.

``run/`` is ``lamella run``, which makes Lamella the module torch of a program. ``files/`` reads and writes torch's
checkpoints. ``names.py`` contributes the other files to the namespace: modules of torch that Lamella does not have
(``jit``, ``distributed``, ``compiler``, ``hub``, ``amp``), which give way to plugins; devices that may be absent;
constructors and storages by type; switches of ``lamella.backends``. ``planned.json`` lists the names of torch that are
planned.
"""
