"""A check of a training's losses, which the other files of this folder share."""


def fell(losses) -> int:
    """Returns a script's exit status: 0 if the last losses are clearly below the first ones, else 1."""
    few = max(1, len(losses) // 5)
    before, after = sum(losses[:few]) / few, sum(losses[-few:]) / few
    print(f"loss {before:.3f} at first, {after:.3f} at the end of {len(losses)} steps")
    return 0 if after < 0.9 * before else 1
