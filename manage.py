#!/usr/bin/env python
"""Stepmark's commands. Where DATABASE_URL is unset, each finds the embedded database or starts it."""

import os
import sys
from pathlib import Path

from annotator.embedded import ServicesUnavailable, hold, secret_key

ROOT = Path(__file__).resolve().parent
#: Commands that need no database, or bring their own.
WITHOUT_DATABASE = {"help", "version", "check", "collectstatic", "diffsettings", "findstatic"}
WITHOUT_DATABASE |= {"compilemessages", "makemessages", "makemigrations", "startapp", "startproject", "test"}
#: Commands that look at migrations themselves, so nothing may be applied behind their back.
ABOUT_MIGRATIONS = {"migrate", "showmigrations", "sqlmigrate", "squashmigrations", "optimizemigration"}


def main(arguments: list[str]) -> None:
    """Hold the embedded services where needed, bring their schema up to date, and run the command."""
    command = arguments[1] if len(arguments) > 1 else "help"
    asks_for_help = command.startswith("-") or {"--help", "-h", "--version"} & set(arguments)
    needs_database = not asks_for_help and command not in WITHOUT_DATABASE
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotator.config.settings")
    embedded = not os.environ.get("DATABASE_URL")
    if embedded:
        var = Path(os.environ.get("STEPMARK_VAR") or ROOT / "var")
        os.environ.setdefault("STEPMARK_ENV", "demo")
        if needs_database:
            os.environ.setdefault("SECRET_KEY", secret_key(var))
            services = hold(var)
            os.environ.update(DATABASE_URL=services.database_url, REDIS_URL=services.redis_url)

    from django.core.management import execute_from_command_line

    if embedded and needs_database and command not in ABOUT_MIGRATIONS:
        import django

        from annotator.management.startup import migrate_if_behind

        django.setup()
        migrate_if_behind(var)
    execute_from_command_line(arguments)


if __name__ == "__main__":
    try:
        main(sys.argv)
    except ServicesUnavailable as unavailable:
        sys.stderr.write(f"{unavailable}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped; what was already done is kept.\n")
        sys.exit(130)
