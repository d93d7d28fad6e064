"""``ner-dane``, in both protocols."""

from gendalens.tasks.ner_dane import protocol1, protocol2

TASKS = (protocol2.TASK, protocol1.TASK)
