"""Loop nest -> loop IR."""
