"""A scope stops what runs in it: when it is told to, and when its time is up."""

import math
import threading
import time

import pytest

from pygent.cancel import CancelScope
from pygent.errors import Cancelled, TimedOut


def wait_in(scope, seconds=5.0):
    """Block like a process or a request would, and return for how long."""
    woken, started = threading.Event(), time.monotonic()
    with scope.stopping(woken.set):
        woken.wait(seconds)
    return time.monotonic() - started


def test_cancel_wakes_what_waits():
    """From another thread, at once."""
    scope = CancelScope()
    threading.Timer(0.1, scope.cancel).start()
    assert wait_in(scope) < 2
    with pytest.raises(Cancelled):
        scope.check()


def test_the_deadline_wakes_what_waits():
    """Without anybody doing anything."""
    scope = CancelScope(0.1)
    assert wait_in(scope) < 2
    with pytest.raises(TimedOut, match=r"timeout after 0\.1s"):
        scope.check()


def test_a_child_ends_with_its_parent():
    """Cancelled from outside, and by the parent's deadline."""
    parent = CancelScope(0.1)
    child = CancelScope(60, parent)
    assert wait_in(child) < 2
    with pytest.raises(TimedOut, match=r"0\.1s"):
        child.check()


def test_a_parent_outlives_its_child():
    """The inner limit says nothing about the outer one."""
    parent = CancelScope(60)
    child = CancelScope(0, parent)
    assert child.over
    parent.check()


def test_the_outermost_limit_is_named():
    """When both are over it is the turn's limit that ended the turn."""
    child = CancelScope(0, CancelScope(0.0))
    with pytest.raises(TimedOut) as caught:
        child.check()
    assert caught.value.seconds == 0


def test_a_scope_that_is_over_stops_at_once():
    """What registers too late is stopped as well."""
    scope = CancelScope()
    scope.cancel()
    assert wait_in(scope) < 1


def test_nothing_is_called_after_the_block():
    """Once the wait is over, neither cancelling nor the deadline reaches it."""
    called = []
    scope = CancelScope(0.05)
    with scope.stopping(lambda: called.append(1)):
        pass
    before = len(called)
    scope.cancel()
    other = CancelScope(0.1)
    wait_in(other)
    assert len(called) == before


def test_current_is_the_scope_of_the_block():
    """And an endless one outside of any."""
    with CancelScope(5).active() as scope:
        assert CancelScope.current() is scope
    assert CancelScope.current().remaining() is None


def test_a_broken_stop_does_not_silence_later_deadlines(caplog):
    """One call that raises is logged; the next deadline still holds."""

    def broken():
        raise RuntimeError("broken stop")

    with CancelScope(0.05).stopping(broken):
        assert wait_in(CancelScope(0.1)) < 2
    assert wait_in(CancelScope(0.1)) < 2
    assert "deadline" in caplog.text


def test_many_deadlines_in_many_threads():
    """Each is kept in its own time."""
    waits = []

    def one(number):
        waits.append((number, wait_in(CancelScope(0.05 + 0.01 * number))))

    threads = [threading.Thread(target=one, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(0.04 + 0.01 * n <= took < 3 for n, took in waits)


@pytest.mark.parametrize("far", [1e10, 1e300, math.inf])
def test_a_deadline_that_is_too_far_for_a_clock(far):
    """It is none in practice, and those that come after it hold."""
    with CancelScope(far).stopping(lambda: None):
        assert wait_in(CancelScope(0.1)) < 2
    assert wait_in(CancelScope(0.1)) < 2
