"""A solution's problem and project, and a queue row's solution and project, are held together: one check for two keys,
and they can't differ. Labels that a file brought are held by their solution and its length since 0002.
"""

import django.db.models.deletion
from django.db import migrations, models

# table: (the key that is held together with project_id, the table they refer to)
TOGETHER = {
    "annotator_solution": ("problem_id", "annotator_problem"),
    "annotator_queuerow": ("solution_id", "annotator_solution"),
}


def together() -> list[tuple[str, str]]:
    """(forward, reverse) SQL for each pair of keys."""
    made = []
    for table, (column, other) in TOGETHER.items():
        rule = f"FOREIGN KEY (project_id, {column}) REFERENCES {other} (project_id, id)"
        name = f"{table}_in_project"
        made.append(
            (
                f"ALTER TABLE {table} ADD CONSTRAINT {name} {rule}",
                f"ALTER TABLE {table} DROP CONSTRAINT {name}",
            )
        )
    return made


class Migration(migrations.Migration):
    dependencies = [
        ("annotator", "0013_webhook_failures"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name="problem",
            constraint=models.UniqueConstraint(fields=("project", "id"), name="problem_of_project"),
        ),
        migrations.AddConstraint(
            model_name="solution",
            constraint=models.UniqueConstraint(fields=("project", "id"), name="solution_of_project"),
        ),
        migrations.AlterField(
            model_name="problem",
            name="project",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="problems",
                to="annotator.project",
            ),
        ),
        migrations.AlterField(
            model_name="queuerow",
            name="project",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="annotator.project",
            ),
        ),
        migrations.AlterField(
            model_name="queuerow",
            name="solution",
            field=models.OneToOneField(
                db_constraint=False,
                on_delete=django.db.models.deletion.PROTECT,
                primary_key=True,
                related_name="queue_row",
                serialize=False,
                to="annotator.solution",
            ),
        ),
        migrations.AlterField(
            model_name="referencelabels",
            name="solution",
            field=models.OneToOneField(
                db_constraint=False,
                on_delete=django.db.models.deletion.PROTECT,
                primary_key=True,
                related_name="reference",
                serialize=False,
                to="annotator.solution",
            ),
        ),
        migrations.AlterField(
            model_name="solution",
            name="derived_from",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="derived",
                to="annotator.solution",
            ),
        ),
        migrations.AlterField(
            model_name="solution",
            name="problem",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="solutions",
                to="annotator.problem",
            ),
        ),
        migrations.AlterField(
            model_name="solution",
            name="project",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="solutions",
                to="annotator.project",
            ),
        ),
        migrations.AddIndex(
            model_name="solution",
            index=models.Index(
                condition=models.Q(("derived_from__isnull", False)),
                fields=["derived_from"],
                name="solution_derived",
            ),
        ),
        *(migrations.RunSQL(*both) for both in together()),
    ]
