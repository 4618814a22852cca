"""Whose order a queue row stands in is no longer looked up for each row that a new order writes. What a foreign key
would hold is held otherwise: a chunk locks its version once, and a version that rows stand by is not deleted.
"""

import django.db.models.deletion
from django.db import migrations, models

KEPT = """
CREATE FUNCTION stepmark_keep_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM annotator_queuerow q JOIN annotator_scorer s ON s.project_id = q.project_id
            WHERE s.id = OLD.scorer_id AND q.ranked_by_id = OLD.id) THEN
        RAISE EXCEPTION 'queue rows stand by scorer version %', OLD.id USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER annotator_scorerversion_kept BEFORE DELETE ON annotator_scorerversion
    FOR EACH ROW EXECUTE FUNCTION stepmark_keep_version();
"""
NOT_KEPT = """
DROP TRIGGER annotator_scorerversion_kept ON annotator_scorerversion;
DROP FUNCTION stepmark_keep_version();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotator", "0014_one_check_for_two_keys"),
    ]

    operations = [
        migrations.AlterField(
            model_name="queuerow",
            name="ranked_by",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="annotator.scorerversion",
            ),
        ),
        migrations.RunSQL(KEPT, NOT_KEPT),
    ]
