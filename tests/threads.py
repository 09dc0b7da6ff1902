"""Runs functions in threads of their own, all at once."""

import threading


def in_threads(*works, stack=0):
    """Runs each function in a thread with this stack in bytes (0: the default); returns results or raises an error."""
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
