"""Invariants that Django's constraints can't say: whole-array checks, composite keys, append-only tables."""

from django.db import migrations

# Tables whose arrays have one entry per step of their solution.
PER_STEP = {
    "annotator_annotation": ["labels"],
    "annotator_referencelabels": ["labels"],
    "annotator_consensus": ["labels"],
    "annotator_adjudication": ["labels"],
    "annotator_gold": ["accept"],
    "annotator_score": ["values", "spread"],
}
# array_remove first: a plain <@ is false wherever a NULL is present.
LABELS = "array_remove({column}, NULL) <@ '{{-1,0,1}}'::smallint[]"
ARRAY_RULES = {
    "labels": LABELS,
    "accept": "accept <@ '{{0,1,2,3,4,5,6,7}}'::smallint[]",
    "values": "0 <= ALL(array_remove(\"values\", NULL)) AND 1 >= ALL(array_remove(\"values\", NULL))",
    "spread": "0 <= ALL(array_remove(spread, NULL)) AND 'Infinity'::real > ALL(array_remove(spread, NULL))",
}
# table: (columns that may change, whether rows may be deleted)
APPEND_ONLY = {
    "annotator_annotation": ["current", "counted", "uncounted_reason"],
    "annotator_solution": ["external_id", "generator", "final_answer", "answer_correct", "meta"],
    "annotator_adjudication": [],
    "annotator_auditevent": [],
    "annotator_guidelines": [],
}
REFUSE = """
CREATE FUNCTION stepmark_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND to_jsonb(OLD) - TG_ARGV::text[] = to_jsonb(NEW) - TG_ARGV::text[] THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""


def statements() -> list[tuple[str, str]]:
    """(forward, reverse) SQL for every invariant."""
    made = []
    for table, columns in PER_STEP.items():
        made.append(
            (
                f"ALTER TABLE {table} ADD CONSTRAINT {table}_steps FOREIGN KEY (solution_id, n_steps) "
                "REFERENCES annotator_solution (id, n_steps)",
                f"ALTER TABLE {table} DROP CONSTRAINT {table}_steps",
            )
        )
        for column in columns:
            rule = ARRAY_RULES[column].format(column=column)
            name = f"{table}_{column}"
            made.append(
                (
                    f'ALTER TABLE {table} ADD CONSTRAINT {name} CHECK (cardinality("{column}") = n_steps AND {rule})',
                    f"ALTER TABLE {table} DROP CONSTRAINT {name}",
                )
            )
    made.append((REFUSE, "DROP FUNCTION stepmark_refuse()"))
    for table, columns in APPEND_ONLY.items():
        arguments = ", ".join(f"'{column}'" for column in columns)
        made.append(
            (
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
                f"FOR EACH ROW EXECUTE FUNCTION stepmark_refuse({arguments})",
                f"DROP TRIGGER {table}_append_only ON {table}",
            )
        )
    made.append(
        (
            "ALTER TABLE annotator_solution ADD CONSTRAINT solution_n_steps "
            "CHECK (jsonb_typeof(steps) = 'array' AND jsonb_array_length(steps) = n_steps)",
            "ALTER TABLE annotator_solution DROP CONSTRAINT solution_n_steps",
        )
    )
    return made


class Migration(migrations.Migration):
    dependencies = [("annotator", "0001_initial")]

    operations = [
        migrations.RunSQL(
            'ALTER TABLE annotator_score ALTER COLUMN "values" TYPE real[], ALTER COLUMN spread TYPE real[]',
            'ALTER TABLE annotator_score ALTER COLUMN "values" TYPE double precision[], '
            "ALTER COLUMN spread TYPE double precision[]",
        ),
        *[migrations.RunSQL(forward, reverse) for forward, reverse in statements()],
    ]
