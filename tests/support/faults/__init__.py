"""The fault campaign: kills, signals, broken homes, full disks, and many at once."""
