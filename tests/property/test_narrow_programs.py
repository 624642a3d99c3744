"""Random programs of f16, bf16 and reductions of affine.parallel: what the generator draws."""

from __future__ import annotations

import re
from pathlib import Path

from support.campaign import Campaign
from support.pairs import SCHEDULES
from support.random_programs import NARROW_SEEDS, seeded_program
from support.random_reductions import FLOAT_KINDS, INTEGER_KINDS

PROGRAMS = 8


def test_all_kinds_are_drawn() -> None:
    texts = [seeded_program(NARROW_SEEDS + seed, calls=True).text for seed in range(300)]
    loops = [
        (line.split("(")[1].count(","), re.findall(r'"(\w+)"', line), re.findall(r"\w+", types))
        for text in texts
        for line in text.splitlines()
        if "reduce" in line
        for types in (line.split("->")[1],)
    ]
    drawn = {
        (kind, each) for _, kinds, types in loops for kind, each in zip(kinds, types, strict=True)
    }
    wanted = {(kind, each) for kind in FLOAT_KINDS for each in ("f16", "bf16")}
    assert wanted <= drawn
    assert {kind for kind, _ in drawn} == {*FLOAT_KINDS, *INTEGER_KINDS}
    assert {commas for commas, _, _ in loops} == {0, 1, 2}
    assert {len(kinds) for _, kinds, _ in loops} == {1, 2, 3}
    assert any(len(set(types)) > 1 for _, _, types in loops)


def test_sample(tmp_path: Path) -> None:
    pairs = PROGRAMS * SCHEDULES
    campaign = Campaign.of_pairs(pairs, seed=NARROW_SEEDS, jobs=1, limit=120, folder=tmp_path)
    assert not campaign.run()
    assert campaign.counts["same"] > pairs // 2
