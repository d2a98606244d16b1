"""Documents are shown to transactions that have bound their space, and to no others."""

from django.db import migrations

from spaces.policies import isolate


class Migration(migrations.Migration):
    dependencies = [("documents", "0001_initial")]
    operations = [isolate("documents_document")]
