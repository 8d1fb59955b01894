from __future__ import annotations

from claude_sessions.channel import Action
from claude_sessions.console.choices import Choices

LAUNCH = [Action(label="Foreground", line="/fg a"), Action(label="Stop", line="/kill a")]
CARD = [Action(label="Allow", line="/allow x"), Action(label="Deny", line="/deny x")]


def line(choices: Choices, number: int, *, seen: int | None = None) -> str | None:
    offer = choices.find(number, seen=choices.stamp if seen is None else seen)
    action = offer.action(number) if offer else None
    return action.line if action else None


def test_a_number_chooses_from_the_newest_offer() -> None:
    choices = Choices()
    choices.offer("m1", LAUNCH, decision=False)
    choices.offer("m2", CARD, decision=True)
    assert line(choices, 1) == "/allow x"
    assert line(choices, 3) is None


def test_open_decisions_keep_their_numbers() -> None:
    choices = Choices()
    choices.offer("m1", CARD, decision=True)
    choices.offer("m2", LAUNCH, decision=False)
    assert [line(choices, n) for n in (1, 2, 3, 4)] == ["/allow x", "/deny x", "/fg a", "/kill a"]


def test_a_card_that_comes_up_while_one_types_is_not_what_one_chose() -> None:
    choices = Choices()
    choices.offer("m1", LAUNCH, decision=False)
    began = choices.stamp
    choices.offer("m2", CARD, decision=True)
    assert line(choices, 1, seen=began) == "/fg a"


def test_what_was_decided_is_no_choice_any_more() -> None:
    choices = Choices()
    offer = choices.offer("m1", CARD, decision=True)
    began = choices.stamp
    choices.close("m1")
    assert line(choices, 1) is None
    assert choices.find(1, seen=began) is offer
    assert offer.closed is not None


def test_numbers_begin_again_once_nothing_is_open() -> None:
    choices = Choices()
    choices.offer("m1", CARD, decision=True)
    choices.close("m1")
    assert choices.offer("m2", LAUNCH, decision=False).first == 1
