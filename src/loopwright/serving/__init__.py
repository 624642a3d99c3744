"""`loopwright serve`: a session for other processes, over MCP or HTTP.

A request goes through the queue of a `Dispatcher` to a child process with limits of memory and time
(`call_worker.py`), whose `Session` reads and writes in one folder only (`root_folder.py`).
"""
