"""A callback for the transformers ``Trainer``: bias over the steps of training."""

from __future__ import annotations

import logging
import sys
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from transformers import Trainer, TrainerCallback

from gendalens.errors import UserError
from gendalens.integrations.history import BiasHistory
from gendalens.integrations.measurement import BiasMeasurement, measure_bias, plan_measurement
from gendalens.integrations.sharded_weights import refuse_sharded
from gendalens.tasks.base import Task
from gendalens.tasks.options import check_number
from gendalens.words import say

#: The reporters of transformers turn ``eval_`` into ``eval/``, and file all other names under ``train/``.
PREFIX = "eval_gendalens/"

logger = logging.getLogger("gendalens.integrations")


class GenderBiasCallback(TrainerCallback):  # type: ignore[misc]
    """Tests the model during training, and logs the figures to whatever the ``Trainer`` reports to.

    The training itself is not changed: its losses are the same bits as without the callback. If a test
    fails, training goes on and the failure is logged once. In distributed training, the main process
    measures.

    Parameters
    ----------
    every_steps, every_epochs
        How often to test the model. Default: after each epoch. The first test is before the first
        step, the last one after the last.
    tasks, data, sample, seed, options
        As in :func:`gendalens.run`. The sample is the same at every step.
    out
        A folder for results and reports, one run folder per step, for ``gendalens compare``.
    tokenizer
        The tokenizer, if the ``Trainer`` has none as its ``processing_class``.

    Attributes
    ----------
    history
        A :class:`BiasHistory`: what was measured, as a frame or as a plot.

    Examples
    --------
    ::

        callback = GenderBiasCallback(every_steps=500, sample=200)
        trainer = Trainer(model, arguments, train_dataset=data, processing_class=tokenizer,
                          callbacks=[callback])
        trainer.train()
        callback.history.plot().save("bias.svg")

    """

    def __init__(
        self,
        *,
        every_steps: int | None = None,
        every_epochs: int | None = None,
        tasks: str | Task[Any] | Sequence[str | Task[Any]] | None = None,
        data: Mapping[str, str | Path] | str | None = None,
        sample: int | None = None,
        seed: int = 0,
        out: str | Path | None = None,
        tokenizer: Any = None,
        **options: Any,
    ) -> None:
        if every_steps is not None and every_epochs is not None:
            raise UserError("Choose either every_steps or every_epochs, not both.")
        for name, value in (("every_steps", every_steps), ("every_epochs", every_epochs)):
            if value is not None:
                check_number(name, value, 1)
        self.every_steps = every_steps
        self.every_epochs = every_epochs or (1 if every_steps is None else None)
        self.history = BiasHistory()
        self._out = Path(out) if out is not None else None
        self._tokenizer = tokenizer
        self._options = {"tasks": tasks, "data": data, "sample": sample, "seed": seed, **options}
        plan_measurement(**self._options)  # a slip of the user's is told now, not hours later
        self._trainer: weakref.ref[Trainer] | None = None
        self._has_complained = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **parts: Any) -> None:
        """Test the model before the first step; a resumed run was tested when it stopped."""
        self._trainer = _find_trainer()
        if state.global_step == 0:
            self.history, self._has_complained = BiasHistory(), False
            self._measure(args, state, control, **parts)

    def on_step_end(self, args: Any, state: Any, control: Any, **parts: Any) -> None:
        """Test the model if it is time."""
        if self.every_steps and state.global_step % self.every_steps == 0:
            self._measure(args, state, control, **parts)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **parts: Any) -> None:
        """Test the model if it is time, or if this is the end."""
        is_due = self.every_epochs and round(state.epoch or 0) % self.every_epochs == 0
        is_last = control.should_training_stop or state.global_step >= state.max_steps
        if is_due or is_last:
            self._measure(args, state, control, **parts)

    def _measure(
        self,
        args: Any,
        state: Any,
        control: Any,
        *,
        model: Any,
        processing_class: Any = None,
        **_parts: Any,
    ) -> None:
        is_done = bool(self.history) and self.history[-1].step == state.global_step
        if is_done or not state.is_world_process_zero:
            return
        try:
            if args.fsdp:
                raise refuse_sharded()
            tokenizer = processing_class if self._tokenizer is None else self._tokenizer
            found = self._test(state, model, tokenizer)
        except Exception as error:  # whatever goes wrong here, the training must not be lost
            failure = (_describe(error),)
            found = BiasMeasurement((), failure, step=int(state.global_step), epoch=state.epoch)
        self.history.append(found)
        if found.failures:
            self._complain(" ".join(found.failures))
        if found.results:
            self._log(state, control, found)

    def _test(self, state: Any, model: Any, tokenizer: Any) -> BiasMeasurement:
        if tokenizer is None:
            raise UserError(
                "The Trainer has no tokenizer: pass one as processing_class to the Trainer, or as "
                "tokenizer to GenderBiasCallback."
            )
        out = self._out / f"step-{state.global_step:06d}" if self._out is not None else None
        return measure_bias(
            model,
            tokenizer,
            step=int(state.global_step),
            epoch=state.epoch,
            out=out,
            **self._options,
        )

    def _complain(self, reason: str) -> None:
        """Log the first failure of a run; the others are only kept in the history."""
        if not self._has_complained:
            self._has_complained = True
            logger.warning(
                "%s",
                say(
                    "A test of gender bias failed: {reason} Training goes on; later failures are only"
                    " kept in the callback's history.",
                    reason=reason,
                ),
            )

    def _log(self, state: Any, control: Any, found: BiasMeasurement) -> None:
        """Log the figures as the ``Trainer`` logs its own.

        Its own loss may be due at the same step, and logging anything marks that as done: this is
        undone. The ``log`` of a subclass is not called, because those of TRL's trainers would add the
        averages they have gathered, and forget them.
        """
        figures = {f"{PREFIX}{name}": value for name, value in found.figures.items()}
        trainer = self._trainer() if self._trainer else None
        if trainer is None:
            state.log_history.append({**figures, "epoch": state.epoch, "step": state.global_step})
            return
        was_due = control.should_log
        Trainer.log(trainer, figures)
        control.should_log = was_due


def _find_trainer() -> weakref.ref[Trainer] | None:
    """The ``Trainer`` that is calling; callbacks are given everything but that.

    ``Trainer.log`` is the one way to its log history and to every reporter: reporters are called before
    the callbacks of users, so nothing that is added in ``on_log`` would reach them.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, Trainer):
            return weakref.ref(caller)
        frame = frame.f_back
    return None


def _describe(error: Exception) -> str:
    return str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}."
