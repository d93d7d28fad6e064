"""``chat-abc``: a test of chat models alone."""

from gendalens.tasks.chat_abc import protocol2

TASKS = (protocol2.TASK,)
