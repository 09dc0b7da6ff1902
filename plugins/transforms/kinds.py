"""The kinds of levels, as in level.h."""

VMAP, FORWARD, FUNCTIONAL = 0, 1, 2
