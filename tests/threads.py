"""Functions that run in threads of their own, all at once, and must end."""

import threading


def in_threads(*works, stack=0):
    """The results of the functions, whose threads have this stack in bytes (0: the usual one); or the first error."""
    results, errors = [None] * len(works), []

    def run(i):
        try:
            results[i] = works[i]()
        except BaseException as error:
            errors.append(error)

    before = threading.stack_size(stack)
    try:
        threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(works))]
        for thread in threads:
            thread.start()
    finally:
        threading.stack_size(before)
    for thread in threads:
        thread.join(100)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    if errors:
        raise errors[0]
    return results
