"""What the suites in Python share: checks named after features, and how they are run and told of.

A suite is `checks.py BOOTSTRAP [FEATURE…]`: functions under @check("feature"), and run(client, version) at the end. It
prints "client NAME VERSION", a line for each check, and "N passed, N failed" (tools/compat-table reads them).
"""
import asyncio
import inspect
import multiprocessing
import signal
import sys
import time
import traceback
import uuid

BOOTSTRAP, *CHOSEN = sys.argv[1:]
LIMIT_S = 30  # of one check
JOBS = 4
_checks = []


def check(feature):
    def add(function):
        _checks.append((feature, function))
        return function

    return add


def fresh(prefix):
    return f"{prefix}-{uuid.uuid4().hex[:12]}"


def until(condition, what):
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end, f"not in time: {what}"
        time.sleep(0.02)


async def until_async(condition, what):
    end = time.monotonic() + LIMIT_S
    while not await condition():
        assert time.monotonic() < end, f"not in time: {what}"
        await asyncio.sleep(0.02)


def _time_out(*_):
    raise TimeoutError(f"not done in {LIMIT_S} s")


def _one(number):
    """Why the check failed, or None. In a process of its own, so that no check sees what another left behind."""
    signal.signal(signal.SIGALRM, _time_out)
    signal.alarm(LIMIT_S)
    try:
        result = _checks[number][1]()
        if inspect.iscoroutine(result):
            asyncio.run(result)
    except Exception as error:
        traceback.print_exc()
        return " ".join(f"{type(error).__name__} {error}".split())[:200]
    finally:
        signal.alarm(0)


def run(client, version):
    print(f"client {client} {version}", flush=True)
    chosen = [number for number, (feature, _) in enumerate(_checks)
              if not CHOSEN or any(feature == one or feature.startswith(one + ".") for one in CHOSEN)]
    failed = 0
    # Most of a check is waiting for a broker.
    with multiprocessing.get_context("fork").Pool(JOBS, maxtasksperchild=1) as pool:
        for number, why in zip(chosen, pool.imap(_one, chosen)):
            feature = _checks[number][0]
            failed += why is not None
            print(f"passed {feature}" if why is None else f"failed {feature}: {why}", flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed or not chosen else 0
