from __future__ import annotations

import threading

from clew.hosts.pi.background import Background

LONG_S = 30.0


def test_wakes_during_a_pass_are_answered_by_one_more_pass():
    entered, may_leave, passes = threading.Semaphore(0), threading.Semaphore(0), []

    def work(_stop):
        passes.append(len(passes))
        entered.release()
        may_leave.acquire()

    background = Background(work, period_s=LONG_S)
    background.wake()
    entered.acquire()
    for _ in range(5):
        background.wake()
    may_leave.release(2)
    assert background.finish(LONG_S)
    assert passes == [0, 1]


def test_a_quiet_thread_makes_a_pass_now_and_then():
    passes = threading.Semaphore(0)
    background = Background(lambda _stop: passes.release(), period_s=0.01)
    background.wake()
    assert all(passes.acquire(timeout=LONG_S) for _ in range(3))
    assert background.finish(LONG_S)


def test_finishing_works_off_what_was_asked_for():
    done = []
    background = Background(lambda _stop: done.append(1), period_s=LONG_S)
    background.wake()
    assert background.finish(LONG_S)
    assert done


def test_a_pass_that_does_not_end_in_time_is_told_to_stop_and_reported():
    told = threading.Event()
    may_leave = threading.Event()

    def work(stop):
        stop.wait(LONG_S)
        told.set()
        may_leave.wait(LONG_S)

    background = Background(work, period_s=LONG_S)
    background.wake()
    assert not background.finish(0.05)
    assert told.wait(LONG_S)
    may_leave.set()
    assert background.finish(LONG_S)


def test_finishing_without_any_wake_has_nothing_to_wait_for():
    assert Background(lambda _stop: None).finish(LONG_S)


def test_a_wake_after_the_end_is_ignored():
    passes = []
    background = Background(lambda _stop: passes.append(1), period_s=LONG_S)
    background.wake()
    assert background.finish(LONG_S)
    background.wake()
    assert background.finish(LONG_S)
    assert passes == [1]
