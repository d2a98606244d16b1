"""Words are cut by rules that have a number; spaces with an older one are indexed anew by the worker."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0014_field_names")]

    operations = [
        migrations.AddField(
            model_name="spacestatistics",
            name="words_version",
            field=models.SmallIntegerField(db_default=1, editable=False),
        ),
    ]
