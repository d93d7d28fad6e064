"""``coref-dawinobias``, in both protocols."""

from gendalens.tasks.coref_dawinobias import protocol1, protocol2

TASKS = (protocol2.TASK, protocol1.TASK)
