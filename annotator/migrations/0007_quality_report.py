"""What the quality report needs to read a large project fast."""

from django.db import migrations, models
from django.db.models import F, Func, Q

JUDGED = "jsonb_array_length(jsonb_path_query_array(%(expressions)s, '$[*] ? (@.judged == true)'))"
CHARS = "length(jsonb_path_query_array(%(expressions)s, '$[*].text')::text)"
# What may change of a solution. A trigger that runs before an update sees generated columns as not yet computed.
BEFORE = ["external_id", "generator", "final_answer", "answer_correct", "meta"]
AFTER = [*BEFORE, "n_judged", "n_chars"]


def append_only(columns: list[str]) -> str:
    arguments = ", ".join(f"'{column}'" for column in columns)
    return (
        "DROP TRIGGER annotator_solution_append_only ON annotator_solution; "
        "CREATE TRIGGER annotator_solution_append_only BEFORE UPDATE OR DELETE ON annotator_solution "
        f"FOR EACH ROW EXECUTE FUNCTION stepmark_refuse({arguments})"
    )


def generated(template: str) -> models.GeneratedField:
    return models.GeneratedField(
        expression=Func(F("steps"), template=template), output_field=models.IntegerField(), db_persist=True
    )


class Migration(migrations.Migration):
    dependencies = [("annotator", "0006_people")]

    operations = [
        migrations.AddField("solution", "n_judged", generated(JUDGED)),
        migrations.AddField("solution", "n_chars", generated(CHARS)),
        migrations.RunSQL(append_only(AFTER), append_only(BEFORE)),
        migrations.AddIndex(
            "assignment",
            models.Index(
                fields=["project", "solution"],
                condition=Q(selection__route="audit"),
                name="assignment_of_audit",
            ),
        ),
    ]
