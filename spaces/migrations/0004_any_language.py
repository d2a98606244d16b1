"""The language of a space may be any text search configuration that the database has, not only PostgreSQL's own."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("spaces", "0003_topics")]

    operations = [
        migrations.AlterField(
            model_name="space",
            name="language",
            field=models.CharField(
                default="english",
                help_text="The main language of its texts, for word search; search by meaning needs no language.",
                max_length=63,
                verbose_name="language",
            ),
        ),
    ]
