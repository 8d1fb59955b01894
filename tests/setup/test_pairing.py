from __future__ import annotations

import pytest

from claude_sessions.setup.pairing import LIFETIME, TRIES, Pairing, Verdict, code_in, new_code

ADA, EVE = 1, 2


@pytest.fixture
def pairing() -> Pairing:
    return Pairing(code="042137", expires=LIFETIME)


def test_the_right_code_pairs(pairing: Pairing) -> None:
    assert pairing.hears(ADA, "042137", 10) is Verdict.PAIRED


def test_the_code_is_dead_when_its_time_is_over(pairing: Pairing) -> None:
    assert pairing.hears(ADA, "042137", LIFETIME - 0.1) is Verdict.PAIRED
    assert pairing.hears(ADA, "042137", LIFETIME) is Verdict.SILENCE


def test_five_wrong_tries_silence_an_account_and_no_other(pairing: Pairing) -> None:
    wrong = [pairing.hears(EVE, "111111", 1) for _ in range(TRIES + 1)]
    assert wrong == [Verdict.WRONG] * TRIES + [Verdict.SILENCE]
    assert pairing.hears(EVE, "042137", 2) is Verdict.SILENCE
    assert pairing.hears(ADA, "042137", 2) is Verdict.PAIRED


def test_talk_is_no_try(pairing: Pairing) -> None:
    for text in ("/start", "hello", "", "٠٤٢١٣٧", "042137?"):
        assert pairing.hears(EVE, text, 1) is Verdict.SILENCE
    assert pairing.hears(EVE, "042137", 1) is Verdict.PAIRED


@pytest.mark.parametrize("text", ["042 137", " 042137\n", "042-137", "/start 042137"])
def test_the_code_may_be_typed_as_people_type_numbers(text: str) -> None:
    assert code_in(text) == "042137"


def test_a_code_has_six_digits_and_is_not_the_last_one() -> None:
    codes = {new_code() for _ in range(100)}
    assert all(len(code) == 6 and code.isdecimal() for code in codes)
    assert len(codes) > 90


def test_the_code_is_not_in_its_repr(pairing: Pairing) -> None:
    assert "042137" not in repr(pairing)
