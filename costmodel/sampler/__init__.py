"""Random legal schedules of a program: `sample_schedules(random, original, count)`."""

from __future__ import annotations

from .paths import SAMPLER_VERSION, STAGES, Sample, Space, Stage, sample_schedules

__all__ = ["SAMPLER_VERSION", "STAGES", "Sample", "Space", "Stage", "sample_schedules"]
