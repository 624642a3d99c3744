"""Checks in child processes: deaths and hangs are verdicts with their seed; the rest goes on."""

from __future__ import annotations

from pathlib import Path

from support.campaign import Campaign
from support.failing_checks import computes_for_ever, dies, leaves, waits_for_ever
from support.pairs import SCHEDULES
from support.supervision import ENDED, HANG, Verdict, supervise


def test_a_death_is_told_with_its_step_and_place() -> None:
    events = list(supervise(dies, range(5), batch=3))
    verdicts = {event.seed: event for event in events if isinstance(event, Verdict)}
    assert [verdicts[seed].verdict for seed in range(5)] == ["same", "same", ENDED, "same", "same"]
    assert verdicts[2].detail.startswith("SIGSEGV\na step\n")
    assert "in dies" in verdicts[2].detail
    assert sorted(event for event in events if isinstance(event, int)) == list(range(5))


def test_an_exit_is_told() -> None:
    verdicts = [event for event in supervise(leaves, range(3)) if isinstance(event, Verdict)]
    assert [(each.seed, each.verdict) for each in verdicts] == [
        (0, "same"),
        (1, ENDED),
        (2, "same"),
    ]
    assert "exit code 3" in verdicts[1].detail


def test_a_long_step_is_told_with_its_place() -> None:
    events = supervise(computes_for_ever, range(2), limit=1)
    hung, other = [event for event in events if isinstance(event, Verdict)]
    assert (hung.seed, hung.verdict, other.verdict) == (0, HANG, "same")
    assert "a long step" in hung.detail and "in computes_for_ever" in hung.detail


def test_a_step_that_waits_is_told() -> None:
    events = supervise(waits_for_ever, range(2), patience=4)
    hung, other = [event for event in events if isinstance(event, Verdict)]
    assert (hung.seed, hung.verdict, other.verdict) == (0, HANG, "same")


def test_findings_are_written_down_with_their_programs(tmp_path: Path) -> None:
    campaign = Campaign.of_pairs(
        5 * SCHEDULES, seed=0, jobs=2, limit=60, folder=tmp_path, check=dies
    )
    (finding,) = campaign.run()
    assert finding.seed == 2
    assert campaign.counts == {"same": 4, ENDED: 1}
    (file,) = tmp_path.iterdir()
    assert file.name.startswith("2-")
    text = file.read_text()
    assert text.startswith("// seed 2") and "SIGSEGV" in text and "func.func @f" in text
