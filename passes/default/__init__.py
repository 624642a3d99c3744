"""The default schedule (`schedule="default"`): static, without a learned model or a measurement.

`default_schedule.py` is the driver, `estimate.py` what tells candidates apart; each strategy (how a
nest of one kind is scheduled) has a file of its own and an entry in `strategies.py`.
"""
