"""What every app shares and no app owns: the project's errors, input cleaning and paging. No models, no settings."""
