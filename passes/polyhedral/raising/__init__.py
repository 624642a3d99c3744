"""Raising: functions -> polyhedral model."""
