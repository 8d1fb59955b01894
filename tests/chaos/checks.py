"""Whether anything was lost: pure functions from the evidence to sentences, one a violation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.chaos import answers, messages, runs
from tests.chaos.evidence import Evidence


def nothing_is_left(evidence: Evidence) -> Iterator[str]:
    for one in evidence.left:
        yield f"left: {one}"


def nothing_went_wrong_inside(evidence: Evidence) -> Iterator[str]:
    """Whatever is done to it from outside, it has no errors of its own to log."""
    yield from evidence.mishaps


CHECKS: tuple[Callable[[Evidence], Iterator[str]], ...] = (
    messages.accepted_are_logged,
    messages.reached_once,
    messages.sent_again_only_when_returned,
    messages.none_is_lost,
    runs.states_fold,
    runs.runs_end_once,
    runs.turns_end_once,
    runs.questions_are_settled_once,
    runs.sums_agree,
    answers.answers_are_logged,
    answers.blocks_can_be_read,
    answers.watchers_saw_it,
    answers.catching_up_is_exact,
    answers.endings_are_told,
    answers.what_was_cut_off_is_told,
    answers.nobody_was_at_a_terminal,
    nothing_is_left,
    nothing_went_wrong_inside,
)


def violations(evidence: Evidence) -> list[str]:
    return [f"{check.__name__}: {told}" for check in CHECKS for told in check(evidence)]
