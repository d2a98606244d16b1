"""Texts for benchmarks: sentences of varied topics, the same in every run."""

import random

_WHO = ["The team", "Ada", "The customer", "Our supplier", "The night shift", "Support", "The board", "A contractor"]
_DOES = ["moved", "approved", "postponed", "rewrote", "measured", "cancelled", "ordered", "repaired", "documented"]
_WHAT = [
    "the quarterly budget", "a water pump in hall three", "the onboarding guide", "the login page",
    "forty office chairs",
    "the backup schedule", "the contract with the bakery", "a spectrometer", "the spring catalogue",
    "the parking rules",
    "the release of version four", "a broken window", "the tax declaration", "the training for first aid",
    "the migration to the new database", "the menu of the canteen",
]  # fmt: skip
_WHY = [
    "because the old one was too slow", "after a complaint from Hamburg", "to save energy in winter",
    "since the law changed in March", "before the visit of the auditors", "as agreed with the works council",
    "when the delivery was late", "so that new colleagues find it",
]  # fmt: skip


def sentences(number: int, seed: int = 7) -> list[str]:
    """`number` different sentences."""
    chance = random.Random(seed)
    return [
        f"{chance.choice(_WHO)} {chance.choice(_DOES)} {chance.choice(_WHAT)} {chance.choice(_WHY)}, note {index}."
        for index in range(number)
    ]


def questions(number: int, seed: int = 11) -> list[str]:
    """`number` different questions about such sentences."""
    chance = random.Random(seed)
    return [
        f"Who {chance.choice(_DOES)} {chance.choice(_WHAT)} and was it {chance.choice(_WHY)}, number {index}?"
        for index in range(number)
    ]
