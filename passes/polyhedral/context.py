"""Safe use of isl: errors are exceptions, and one thread at a time."""

from __future__ import annotations

import threading

import islpy as isl

# Objects of one isl context share reference counts and an error state without any locking, and
# islpy keeps all objects in one context. Whoever uses isl from several threads takes this lock.
ISL_LOCK = threading.RLock()

# Warnings on standard error are of no use to a user, and an abort would take the process along.
isl.DEFAULT_CONTEXT.set_on_error(isl.on_error.CONTINUE)
