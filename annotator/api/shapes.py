"""What the API takes and gives, as the description shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import QueryDict
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotator.actions.export_choices import Recipe
from annotator.actions.import_rows import LabelsAs
from annotator.actions.labeling import Work
from annotator.core.codecs import CODECS
from annotator.core.codecs.policies import AfterFirstErrorPolicy, NeutralPolicy
from annotator.core.codecs.writing import FORMATS, Values
from annotator.core.labels import FinishReason
from annotator.core.parts import TEST, TRAIN, VALIDATION
from annotator.core.segmentation import Rule
from annotator.models import ImportBatch
from annotator.queries.export_filters import AGREE, CLEAN, CONTRADICTED, BadChoice, LabelsFrom, LabelSource

#: More steps than any solution has.
MAX_STEPS = 32_767
INT32 = 2**31 - 1


@extend_schema_field({"type": "integer", "minimum": -1, "maximum": 1})
class LabelField(serializers.Field[Any, Any, Any, Any]):
    """-1 incorrect, 0 neutral, 1 correct, null not judged; a JSON integer and nothing that resembles one."""

    def to_internal_value(self, data: Any) -> int:
        """Raises ValidationError for anything else."""
        if type(data) is not int or data not in (-1, 0, 1):
            raise serializers.ValidationError("Expected -1, 0, 1 or null.")
        return data

    def to_representation(self, value: Any) -> Any:
        """As it is."""
        return value


class LabelsField(serializers.ListField):
    """One label per step, in order."""

    child = LabelField(allow_null=True)


@extend_schema_field({"type": "object", "additionalProperties": {}})
class DetailsField(serializers.Field[Any, Any, Any, Any]):
    """unsure, comments, error_types, recovered_at, reason, …; the action says what is wrong with one."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Raises ValidationError for what is no object."""
        if not isinstance(data, dict):
            raise serializers.ValidationError("Expected an object.")
        return data

    def to_representation(self, value: Any) -> Any:
        """As it is."""
        return value


class WorkShape(serializers.Serializer[Any]):
    """What a person has marked."""

    labels = LabelsField(max_length=MAX_STEPS)
    details = DetailsField(default=dict)
    active_seconds = serializers.FloatField(default=0.0, min_value=0.0, max_value=1e9)

    def work(self) -> Work:
        """What the actions take; call it after ``is_valid``."""
        sent: Mapping[str, Any] = self.validated_data
        return Work(sent["labels"], sent["details"], sent.get("finish_reason", ""), sent["active_seconds"])


class DraftShape(WorkShape):
    """Unfinished work. ``version`` is the one it was made from: 0, or what the last reply said."""

    finish_reason = serializers.ChoiceField(choices=["", *FinishReason], default="")
    version = serializers.IntegerField(min_value=0, max_value=INT32)


class SubmitShape(WorkShape):
    """Finished work. ``client_id`` is a UUID of your own: the same one again gets the same reply."""

    finish_reason = serializers.ChoiceField(choices=list(FinishReason))
    client_id = serializers.UUIDField()


class SkipShape(serializers.Serializer[Any]):
    """Why it goes to somebody else."""

    reason = serializers.CharField(max_length=500)


class ProblemImageShape(serializers.Serializer[Any]):
    """A picture of the statement: where it is, and what it shows in words."""

    url = serializers.CharField()
    alt = serializers.CharField(allow_blank=True)


class ProblemTextShape(serializers.Serializer[Any]):
    """The statement, and what the solution claims as its answer."""

    text = serializers.CharField()
    final_answer = serializers.CharField(allow_null=True)
    images = ProblemImageShape(many=True)


class StepShape(serializers.Serializer[Any]):
    """One step; ``index`` is 0-based over all steps, and only judged ones take labels."""

    index = serializers.IntegerField()
    kind = serializers.CharField()
    judged = serializers.BooleanField()
    text = serializers.CharField()


class StoredDraftShape(serializers.Serializer[Any]):
    """The draft as it is kept."""

    labels = LabelsField()
    details = DetailsField()
    finish_reason = serializers.CharField(allow_blank=True)
    active_seconds = serializers.FloatField()
    version = serializers.IntegerField()


class AssignmentShape(serializers.Serializer[Any]):
    """One solution to judge. ``mode`` says how far: ``first_error`` or ``all_steps``."""

    assignment = serializers.UUIDField()
    expires_at = serializers.DateTimeField()
    mode = serializers.CharField()
    problem = ProblemTextShape()
    steps = StepShape(many=True)
    draft = StoredDraftShape()


class SubmittedShape(serializers.Serializer[Any]):
    """``counted`` is false for a late submit whose place somebody else took; ``next`` is null with a ``nothing``."""

    annotation = serializers.IntegerField()
    counted = serializers.BooleanField()
    next = AssignmentShape(allow_null=True)
    nothing = serializers.CharField(allow_null=True)


class SavedShape(serializers.Serializer[Any]):
    """The draft's new version."""

    version = serializers.IntegerField()


class AnnotationShape(serializers.Serializer[Any]):
    """One current annotation. The last three are null except for managers."""

    annotation = serializers.IntegerField()
    assignment = serializers.UUIDField(allow_null=True)
    version = serializers.IntegerField()
    labels = LabelsField()
    finish_reason = serializers.CharField()
    details = DetailsField()
    active_seconds = serializers.FloatField(allow_null=True)
    submitted_at = serializers.DateTimeField()
    counted = serializers.BooleanField()
    annotator = serializers.CharField(allow_null=True)
    solution = serializers.CharField(allow_null=True)
    uncounted_reason = serializers.CharField(allow_null=True, allow_blank=True)


class AnnotationsShape(serializers.Serializer[Any]):
    """A page; ``next`` is the cursor of the one after it, null at the end."""

    results = AnnotationShape(many=True)
    next = serializers.CharField(allow_null=True)


class ImportShape(serializers.Serializer[Any]):
    """A file and how to read it."""

    file = serializers.FileField()
    format = serializers.ChoiceField(choices=["auto", *CODECS], default="auto")
    labels = serializers.ChoiceField(choices=list(LabelsAs), default=LabelsAs.REFERENCE.value)
    segment = serializers.ChoiceField(choices=list(Rule), default=Rule.AUTO.value)
    overwrite = serializers.BooleanField(
        default=False, help_text="replace metadata of known solutions; otherwise only gaps are filled"
    )


class RejectedShape(serializers.Serializer[Any]):
    """A row that was not imported."""

    line = serializers.IntegerField()
    field = serializers.CharField(allow_blank=True)
    message = serializers.CharField()
    file = serializers.CharField(required=False, help_text="within an archive")


class ImportStateShape(serializers.Serializer[Any]):
    """imported + duplicates + rejected = read; ``updated`` are among the duplicates; 1,000 rejected rows are named.

    ``state``: queued, running, done, failed (it can be gone on with), paused or cancelled. ``asked``: what a running
    import has been asked and not yet done. ``percent`` of the file that is read, null where that isn't known.
    """

    batch = serializers.IntegerField(source="batch.pk")
    state = serializers.ChoiceField(choices=ImportBatch.State.values, source="batch.state")
    asked = serializers.CharField(source="batch.asked", allow_blank=True)
    filename = serializers.CharField(source="batch.filename")
    format = serializers.CharField(source="batch.format")
    reason = serializers.CharField(source="batch.reason", allow_blank=True)
    read = serializers.IntegerField(source="batch.read")
    imported = serializers.IntegerField(source="batch.imported")
    duplicates = serializers.IntegerField(source="batch.duplicates")
    updated = serializers.IntegerField(source="batch.updated")
    rejected = serializers.IntegerField(source="batch.rejected")
    percent = serializers.IntegerField(allow_null=True)
    on_benchmarks = serializers.IntegerField(
        help_text="imported solutions of problems that a benchmark holds"
    )
    created_at = serializers.DateTimeField(source="batch.created_at")
    finished_at = serializers.DateTimeField(source="batch.finished_at", allow_null=True)
    errors = RejectedShape(many=True, source="batch.errors")  # type: ignore[assignment]  # fields leave the class


class RefusalShape(serializers.Serializer[Any]):
    """RFC 9457. ``errors`` by field, ``step`` and ``current`` come only with the refusals they belong to."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField()
    detail = serializers.CharField()
    errors = DetailsField(required=False)  # type: ignore[assignment]
    step = serializers.IntegerField(required=False)
    current = StoredDraftShape(required=False)


class Asked(serializers.Serializer[Any]):
    """Query parameters from an allow-list: an unknown one, or one given twice, is refused rather than ignored."""

    @classmethod
    def read(cls, query: QueryDict) -> dict[str, Any]:
        """The typed parameters. Raises ValidationError."""
        known = cls().fields
        wrong = {name: ["There is no such parameter."] for name in query if name not in known}
        twice = [name for name, values in query.lists() if len(values) > 1 and name in known]
        wrong |= {name: ["Give it once."] for name in twice}
        if wrong:
            raise serializers.ValidationError(wrong)
        asked = cls(data=query.dict())
        asked.is_valid(raise_exception=True)
        return dict(asked.validated_data)


class NextAsked(Asked):
    """``after``: the live assignment in front of you, to claim the one after it (at most two are live)."""

    after = serializers.UUIDField(required=False)


class AnnotationsAsked(Asked):
    """Filters; times in ISO 8601 with a zone."""

    since = serializers.DateTimeField(required=False)
    until = serializers.DateTimeField(required=False)
    finish_reason = serializers.ChoiceField(choices=list(FinishReason), required=False)
    counted = serializers.BooleanField(required=False)
    limit = serializers.IntegerField(min_value=1, max_value=200, default=50)
    cursor = serializers.CharField(required=False, max_length=200)


class AllAnnotationsAsked(AnnotationsAsked):
    """A manager may also ask for one annotator's, by pseudonym."""

    annotator = serializers.CharField(required=False, max_length=60)


class ExportAsked(Asked):
    """The same choices as ``export_labels``."""

    format = serializers.ChoiceField(choices=list(FORMATS), default="native")
    labels = serializers.ChoiceField(choices=list(LabelsFrom), default=LabelsFrom.CONSENSUS.value)
    values = serializers.ChoiceField(
        choices=list(Values), required=False, help_text="hard labels, with a weight, or probabilities"
    )
    neutral = serializers.ChoiceField(choices=list(NeutralPolicy), required=False)
    after_first_error = serializers.ChoiceField(choices=list(AfterFirstErrorPolicy), required=False)
    include_gold = serializers.BooleanField(default=False)
    holdout = serializers.BooleanField(required=False)
    split = serializers.ChoiceField(choices=["train", "holdout"], required=False)
    domain = serializers.CharField(required=False, max_length=100)
    since = serializers.DateField(required=False, help_text="labelled on this day or later")
    until = serializers.DateField(required=False, help_text="labelled on this day or before")
    min_agreement = serializers.FloatField(
        required=False, min_value=0, max_value=1, help_text="share of people with the consensus's first error"
    )
    min_posterior = serializers.FloatField(required=False, min_value=0, max_value=1)
    min_people = serializers.IntegerField(required=False, min_value=1, max_value=1_000)
    people = serializers.CharField(required=False, max_length=1_000, help_text="pseudonyms, apart by commas")
    sources = serializers.CharField(
        required=False, max_length=100, help_text=f"of {', '.join(LabelSource)}; apart by commas"
    )
    exclude_benchmarks = serializers.BooleanField(
        required=False, help_text="leave out problems that a known benchmark holds"
    )
    automatic = serializers.ChoiceField(
        choices=[AGREE],
        required=False,
        help_text="judge and Monte-Carlo put the first error in the same place",
    )
    checks = serializers.ChoiceField(
        choices=[CONTRADICTED, CLEAN],
        required=False,
        help_text="an equation does not hold, or none is known not to",
    )
    split_by_problem = serializers.CharField(required=False, max_length=20, help_text="such as 80/10/10")
    seed = serializers.IntegerField(required=False, min_value=-INT32, max_value=INT32)
    part = serializers.ChoiceField(choices=[TRAIN, VALIDATION, TEST], required=False)
    licence = serializers.CharField(required=False, max_length=100, help_text="for the dataset card")

    def recipe(self) -> Recipe:
        """The choices; call it after ``is_valid``."""
        return Recipe.from_json(self.validated_data)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Raises ValidationError for choices that don't go together."""
        try:
            Recipe.from_json(attrs)
        except BadChoice as error:
            raise serializers.ValidationError(str(error)) from None
        return attrs


class ExportShape(serializers.Serializer[Any]):
    """An export that a worker makes. ``file`` is its address once it is done, null when it has expired."""

    id = serializers.IntegerField()
    state = serializers.CharField()
    format = serializers.CharField()
    written = serializers.IntegerField()
    size = serializers.IntegerField()
    sha256 = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_blank=True)
    file = serializers.CharField(allow_null=True)
