"""The training loop itself. Each step depends on the weights and its own number alone, so a run that was killed comes
to the same numbers as one that was not."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import torch
from torch.nn import functional

from annotator.scorers.base import ScoringInput
from annotator.scorers.builtin.fit import Example, NothingToLearn
from annotator.scorers.local import backbones, checkpoints, loading
from annotator.scorers.local.batches import batches
from annotator.scorers.local.folders import InvalidModel, write_whole
from annotator.scorers.local.heads import Heads
from annotator.scorers.local.prompts import Unscorable
from annotator.scorers.local.tokens import Encoded
from annotator.scorers.local.training import (
    CHECKPOINT,
    CURVES,
    MODEL,
    Progress,
    Trained,
    TrainingCancelled,
    TrainingSettings,
)
from annotator.scorers.remote import InvalidSettings

#: What finished, beside the model, so that a second call returns it.
RESULT = "result.json"
LONGEST_GRADIENT = 1.0


@dataclass(frozen=True, slots=True)
class Lesson:
    """An example in tokens. ``targets`` and ``weights`` stand beside the prompt's places; weight 0: not judged."""

    prompt: Encoded
    targets: tuple[float, ...]
    weights: tuple[float, ...]
    group: str


@dataclass(frozen=True, slots=True)
class Run:
    """One run: the backbone's folder, the folder that it works in, and what tells it from another one."""

    base: Path
    folder: Path
    settings: TrainingSettings
    key: str

    def through(
        self, examples: Sequence[Example], *, cancelled: Callable[[], bool], progress: Progress
    ) -> Trained:
        """From the examples to the model in its folder; see `training.train`."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidSettings(
                f"Training can't write to {self.folder.parent}: {error.strerror}."
            ) from error
        finished = self._finished()
        if finished is not None:
            return finished
        if cancelled():
            raise TrainingCancelled
        progress("model", 0, 1)
        loading.quietly()
        learner = _Learner(self, backbones.opened(self.base, self.settings))
        lessons, left_out = learner.read(examples)
        shown, hidden = _apart(lessons, self.settings)
        try:
            trained = learner.learn(shown, hidden, cancelled=cancelled, progress=progress)
        except loading.OutOfMemory as error:
            raise InvalidModel("The device's memory does not suffice; lower 'max_tokens'.") from error
        progress("saving", 0, 1)
        backbones.export(learner.backbone, learner.heads, self.folder / MODEL, self.settings)
        result = Trained(
            folder=self.folder / MODEL,
            curves=self.folder / CURVES,
            steps=trained[0],
            examples=len(shown),
            left_out=left_out,
            loss=trained[1],
            validation=learner.validated,
        )
        write_whole(self.folder / RESULT, orjson.dumps({"key": self.key, **result.to_json()}))
        (self.folder / CHECKPOINT).unlink(missing_ok=True)
        progress("saving", 1, 1)
        return result

    def _finished(self) -> Trained | None:
        """What the same run came to, if it is done; what another one left is taken away."""
        path = self.folder / RESULT
        if not path.exists():
            return None
        told = orjson.loads(path.read_bytes())
        if told.pop("key") == self.key and (self.folder / MODEL).is_dir():
            return Trained(**{**told, "folder": Path(told["folder"]), "curves": Path(told["curves"])})
        path.unlink()
        shutil.rmtree(self.folder / MODEL, ignore_errors=True)
        return None


def _apart(lessons: Sequence[Lesson], settings: TrainingSettings) -> tuple[list[Lesson], list[Lesson]]:
    """Lessons to learn from, and those that are only looked at: whole problems, by lot. Raises NothingToLearn."""
    judged = {
        target >= 0.5
        for one in lessons
        for target, weight in zip(one.targets, one.weights, strict=True)
        if weight > 0
    }
    if len(judged) < 2:
        raise NothingToLearn("The examples hold no judged step, or steps of one kind only.")
    groups = sorted({one.group for one in lessons})
    drawn = torch.randperm(len(groups), generator=_generator(settings.seed, 0)).tolist()
    held = {groups[place] for place in drawn[: int(settings.validation * len(groups))]}
    return [one for one in lessons if one.group not in held], [one for one in lessons if one.group in held]


def _generator(seed: int, number: int) -> Any:
    return torch.Generator().manual_seed(seed * 1_000_003 + number)


class _Learner:
    """A backbone, its heads, and the optimiser over both."""

    def __init__(self, run: Run, backbone: backbones.Backbone) -> None:
        self.run, self.backbone = run, backbone
        self.settings = run.settings
        self.heads: Heads = backbone.heads
        self.weights = {**backbone.learning(), **self.heads.tensors}
        self.optimizer = torch.optim.AdamW(
            list(self.weights.values()), lr=self.settings.rate, weight_decay=self.settings.weight_decay
        )
        self.validated: dict[str, float] = {}

    def read(self, examples: Sequence[Example]) -> tuple[list[Lesson], dict[str, int]]:
        """The examples in tokens, and how many were left out for which reason."""
        lessons: list[Lesson] = []
        left_out: dict[str, int] = {}
        for one in examples:
            judged = [target for step, target in zip(one.steps, one.targets, strict=True) if step.judged]
            reason = "" if any(target is not None for target in judged) else "no judged step"
            prompt = None
            if not reason:
                try:
                    prompt = self.backbone.tokens.encode(ScoringInput(one.problem, one.steps))
                except Unscorable:
                    reason = "not to be put to this model"
            if prompt is not None and len(prompt.ids) > min(self.backbone.longest, self.settings.max_tokens):
                reason = "too long"
            if reason or prompt is None:
                left_out[reason] = left_out.get(reason, 0) + 1
                continue
            targets = tuple(0.0 if target is None else float(target) for target in judged)
            weights = tuple(0.0 if target is None else one.weight for target in judged)
            lessons.append(Lesson(prompt, targets, weights, one.group or one.problem))
        return lessons, left_out

    def learn(
        self,
        shown: Sequence[Lesson],
        hidden: Sequence[Lesson],
        *,
        cancelled: Callable[[], bool],
        progress: Progress,
    ) -> tuple[int, float]:
        """All epochs. Returns the steps of the whole run, and the last one's loss. Raises TrainingCancelled."""
        folder, every = self.run.folder, self.settings.checkpoint_steps
        done = checkpoints.restore(folder, key=self.run.key, weights=self.weights, optimizer=self.optimizer)
        checkpoints.cut_curves(folder, done if done else -1)
        plan = list(self._plan(len(shown)))
        loss, kept = float("nan"), done
        for step in range(done, len(plan)):
            epoch, chosen, last = plan[step]
            progress("learning", step, len(plan))
            try:
                line = self._step([shown[index] for index in chosen], step, len(plan), cancelled)
            except TrainingCancelled:
                if step > kept:
                    self._keep(step)
                raise
            loss = line["loss"]
            checkpoints.note(folder, {"step": step + 1, "epoch": epoch + 1, **line})
            if last and hidden:
                self.validated = self._validate(hidden)
                checkpoints.note(folder, {"step": step + 1, "epoch": epoch + 1, "validation": self.validated})
            if (step + 1) % every == 0:
                self._keep(step + 1)
                kept = step + 1
        progress("learning", len(plan), len(plan))
        if done == len(plan) and hidden:
            self.validated = self._validate(hidden)
        return len(plan), loss

    def _keep(self, step: int) -> None:
        checkpoints.save(
            self.run.folder, key=self.run.key, step=step, weights=self.weights, optimizer=self.optimizer
        )

    def _plan(self, count: int) -> Iterator[tuple[int, list[int], bool]]:
        """For each step: its epoch, the lessons of it, and whether it is the epoch's last. Known before the first."""
        size = self.settings.solutions
        for epoch in range(self.settings.epochs):
            order = torch.randperm(count, generator=_generator(self.settings.seed, epoch + 1)).tolist()
            for begin in range(0, count, size):
                yield epoch, order[begin : begin + size], begin + size >= count

    def _step(
        self, lessons: Sequence[Lesson], step: int, steps: int, cancelled: Callable[[], bool]
    ) -> dict[str, float]:
        """One step of the optimiser, and its line in the curves. Raises TrainingCancelled between two passes."""
        began = time.monotonic()
        torch.manual_seed(self.settings.seed * 1_000_003 + step)  # for layers that drop some units
        self.backbone.model.train()
        mask = self._mask(len(lessons), step)
        total = float(sum(mask[i].sum() * sum(one.weights) for i, one in enumerate(lessons)))
        self.optimizer.zero_grad(set_to_none=True)
        entropy = 0.0
        for group in batches([len(one.prompt.ids) for one in lessons], self.settings.max_tokens):
            if cancelled():
                raise TrainingCancelled
            part = self._loss([lessons[i] for i in group], mask[group]) / max(total, 1e-9)
            part.backward()
            entropy += part.item()
        penalty = self.settings.distance * self.heads.distance()
        penalty.backward()
        torch.nn.utils.clip_grad_norm_(list(self.weights.values()), LONGEST_GRADIENT)
        rate = self._rate(step, steps)
        for group_of_weights in self.optimizer.param_groups:
            group_of_weights["lr"] = rate
        self.optimizer.step()
        return {
            "loss": entropy + penalty.item(),
            "entropy": entropy,
            "distance": penalty.item(),
            "rate": rate,
            "seconds": round(time.monotonic() - began, 3),
        }

    def _mask(self, count: int, step: int) -> Any:
        """(lessons, heads): which head learns from which lesson."""
        share, heads = self.settings.share, self.settings.heads
        drawn = torch.rand((count, heads), generator=_generator(self.settings.seed, 10_000 + step))
        return (drawn < share).float() if share < 1 else torch.ones(count, heads)

    def _rate(self, step: int, steps: int) -> float:
        """Rises to the setting over the warm-up, then falls to 0 in a straight line."""
        rising = max(1, round(self.settings.warmup * steps))
        if step < rising:
            return self.settings.rate * (step + 1) / rising
        return self.settings.rate * (steps - step) / max(1, steps - rising + 1)

    def _loss(self, lessons: Sequence[Lesson], mask: Any) -> Any:
        """Sum of weighted cross-entropies over steps and heads."""
        logits, targets, weights = self._read(lessons)
        learning = mask.repeat_interleave(torch.tensor([len(one.targets) for one in lessons]), dim=0)
        each = functional.binary_cross_entropy_with_logits(
            logits, targets[:, None].expand_as(logits), reduction="none"
        )
        return (each * weights[:, None] * learning.to(each.device)).sum()

    def _read(self, lessons: Sequence[Lesson]) -> tuple[Any, Any, Any]:
        """Logits (places, heads), targets and weights (places,)."""
        states = self.backbone.states([one.prompt for one in lessons])
        device = states.device
        targets = torch.tensor([value for one in lessons for value in one.targets], device=device)
        weights = torch.tensor([value for one in lessons for value in one.weights], device=device)
        return self.heads.logits(states).float(), targets, weights

    def _validate(self, lessons: Sequence[Lesson]) -> dict[str, float]:
        """Cross-entropy and Brier score of the heads' mean on steps that nobody learnt from."""
        self.backbone.model.eval()
        entropy = brier = total = 0.0
        with torch.no_grad():
            for group in batches([len(one.prompt.ids) for one in lessons], self.settings.max_tokens):
                logits, targets, weights = self._read([lessons[i] for i in group])
                mean = torch.sigmoid(logits).mean(dim=1).clamp(1e-6, 1 - 1e-6)
                each = functional.binary_cross_entropy(mean, targets, reduction="none")
                entropy += float((each * weights).sum())
                brier += float(((mean - targets).square() * weights).sum())
                total += float(weights.sum())
        steps = sum(weight > 0 for one in lessons for weight in one.weights)
        return {"loss": entropy / total, "brier": brier / total, "steps": float(steps)} if total else {}
