"""The PostgreSQL extensions everything builds on. `vector` needs a superuser unless it is there already."""

from django.contrib.postgres.operations import BtreeGinExtension, TrigramExtension
from django.db import migrations
from pgvector.django import VectorExtension


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [VectorExtension(), TrigramExtension(), BtreeGinExtension()]
