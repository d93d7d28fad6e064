"""The memory that a measurement took, in environments of any age."""

import resource
from pathlib import Path


def peak_mb():
    """Megabytes, the most that this process ever held.

    Not the figure of ``getrusage``, where there is another: a process inherits that one from whoever
    started it.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
