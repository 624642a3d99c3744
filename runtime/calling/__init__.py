"""Calling convention: signatures, arguments, errors, inputs."""
