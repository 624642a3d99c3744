"""Labelled (program, schedule) pairs on disk: Parquet shards in a directory."""
