"""``lm-dawinobias``, in both protocols."""

from gendalens.tasks.lm_dawinobias import protocol1, protocol2

TASKS = (protocol2.TASK, protocol1.TASK)
