from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("annotator", "0005_queue_by_skill"),
    ]

    operations = [
        migrations.AddField(
            model_name="gold",
            name="cleared_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="gold",
            name="void",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="membership",
            name="exam_since",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="assignment",
            name="purpose",
            field=models.CharField(
                choices=[
                    ("work", "Work"),
                    ("exam", "Exam"),
                    ("gold", "Gold"),
                    ("repeat", "Repeat"),
                    ("practice", "Practice"),
                    ("review", "Review"),
                ],
                default="work",
                max_length=10,
            ),
        ),
    ]
