"""The site: settings, URLs, ASGI, Celery, and the services of one machine under `memory_site.embedded`."""
