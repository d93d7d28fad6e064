"""``lm-abc``, in both protocols."""

from gendalens.tasks.lm_abc import protocol1, protocol2

TASKS = (protocol2.TASK, protocol1.TASK)
