"""A solution may be put aside for another segmentation of its text; labels that carry over say so."""

from django.db import migrations, models

# A trigger that runs before an update sees generated columns as not yet computed.
MAY_CHANGE = ["external_id", "generator", "final_answer", "answer_correct", "meta", "n_judged", "n_chars"]


def trigger(columns: list[str]) -> str:
    arguments = ", ".join(f"'{column}'" for column in columns)
    return (
        "DROP TRIGGER annotator_solution_append_only ON annotator_solution; "
        "CREATE TRIGGER annotator_solution_append_only BEFORE UPDATE OR DELETE ON annotator_solution "
        f"FOR EACH ROW EXECUTE FUNCTION stepmark_refuse({arguments})"
    )


class Migration(migrations.Migration):
    dependencies = [("annotator", "0011_queue_indexes")]

    operations = [
        migrations.AlterField(
            model_name="annotation",
            name="source",
            field=models.CharField(
                choices=[("human", "Human"), ("imported", "Imported"), ("inherited", "Inherited")],
                default="human",
                max_length=10,
            ),
        ),
        migrations.RunSQL(trigger([*MAY_CHANGE, "superseded_at"]), trigger(MAY_CHANGE)),
    ]
