"""The budget: how much may be said where, and when."""

from __future__ import annotations

from contextlib import ExitStack

from claude_sessions.telegram.budget import ALL, BURST, Budget

ADA, BOB, TEAM = 1, 2, -100500


def spent(budget: Budget, chat: int, seconds: float, *, matters: bool = True) -> list[float]:
    """When something is said there, by one who says all that is allowed."""
    times: list[float] = []
    now = 0.0
    while now < seconds:
        wait = budget.wait(chat, now, matters=matters)
        if wait > 0:
            now += wait + 1e-9
            continue
        spend(budget, chat, now)
        times.append(now)
    return times


def spend(budget: Budget, chat: int, now: float) -> None:
    with budget.spending(chat, lambda: now):
        pass


def most(times: list[float], seconds: float) -> int:
    return max(sum(at <= each < at + seconds for each in times) for at in times)


def test_a_private_chat_gets_a_small_burst_and_then_one_a_second() -> None:
    times = spent(Budget(), ADA, 60)
    assert most(times, 0.5) == BURST
    assert most(times, 10) <= BURST + 10
    assert 58 <= len(times) <= 63


def test_a_group_gets_twenty_a_minute_and_progress_leaves_some_of_them() -> None:
    assert most(spent(Budget(), TEAM, 300), 60) == 20
    assert most(spent(Budget(), TEAM, 300, matters=False), 60) < 20


def test_all_chats_together_stay_below_thirty_a_second() -> None:
    budget = Budget()
    sent = 0
    for chat in range(1, 100):
        if budget.wait(chat, 0.5, matters=True) == 0:
            spend(budget, chat, 0.5)
            sent += 1
    assert sent == ALL < 30
    assert budget.wait(1000, 0.5, matters=True) > 1


def test_what_is_under_way_may_still_arrive_together_with_what_comes_later() -> None:
    budget = Budget()
    now = 0.0
    with ExitStack() as under_way:
        for chat in range(1, ALL + 1):
            under_way.enter_context(budget.spending(chat, lambda: now))
        assert budget.wait(1000, 5.0, matters=True) > 0
        now = 5.0
    assert budget.wait(1000, 5.5, matters=True) > 0
    assert budget.wait(1000, 6.1, matters=True) == 0


def test_what_only_shows_progress_leaves_something_for_what_matters() -> None:
    budget = Budget()
    times = spent(budget, ADA, 0.01, matters=False)
    assert len(times) < BURST
    assert budget.wait(ADA, 0.01, matters=True) == 0


def test_a_pause_is_kept_to_the_second_and_a_shorter_one_does_not_shorten_it() -> None:
    budget = Budget()
    budget.block(ADA, 10.0, 3600)
    budget.block(ADA, 11.0, 5)
    assert budget.wait(ADA, 3609.9, matters=True) > 0
    assert budget.wait(ADA, 3610.0, matters=True) == 0
    assert budget.wait(BOB, 11.0, matters=True) == 0
    assert budget.left(ADA, 3600.0) == "nothing for 10 s"
