"""Jobs: the queue, the processes that do the work, and workers on several hosts."""
