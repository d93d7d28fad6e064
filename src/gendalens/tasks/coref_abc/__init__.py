"""``coref-abc``, in both protocols."""

from gendalens.tasks.coref_abc import protocol1, protocol2

TASKS = (protocol2.TASK, protocol1.TASK)
