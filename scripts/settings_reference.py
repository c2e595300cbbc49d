"""Write docs/settings.md from the declared settings. `--check` fails when the page is stale."""

from __future__ import annotations

import sys
from pathlib import Path

from clew.config.declared import SETTINGS, Setting

PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
HEADS = {
    "gate": (
        "The gate: `memory-gate-config.json`",
        "In Pi's agent directory (`~/.pi/agent`, or `$PI_CODING_AGENT_DIR`). `//` comments and trailing commas are allowed.",
    ),
    "noodle": (
        "Noodle: `~/.pi/noodle/config.json`",
        "`$NOODLE_CONFIG_PATH` names another file. Keys with dots are nested objects. Comments are allowed here too.",
    ),
}
INTRO = """# Settings

Every setting is optional. An environment variable beats the file, the file beats the default. A value that cannot be
used is reported once (with the nearest valid one) and the default is used; `clew status` and `/gate-status` show what was
asked for, what is in force and where it comes from.

This page is written by `scripts/settings_reference.py` from `src/clew/config/declared.py`; `make check` fails when it is stale.
"""


def row(setting: Setting) -> str:
    """One line of the table."""
    default = "unset" if setting.default is None else f"`{str(setting.default).replace('{agent_dir}', '<agent dir>')}`"
    note = "" if setting.is_used else " *(read, not acted on yet)*"
    return f"| `{setting.key}` | {f'`{setting.env}`' if setting.env else 'none'} | {default} | {setting.help}{note} |"


def page() -> str:
    """The whole page."""
    parts = [INTRO]
    for file, (head, note) in HEADS.items():
        rows = "\n".join(row(setting) for setting in SETTINGS if setting.file == file)
        parts.append(f"## {head}\n\n{note}\n\n| Key | Variable | Default | Meaning |\n|---|---|---|---|\n{rows}\n")
    return "\n".join(parts)


def main() -> int:
    """Write or check the page."""
    if "--check" in sys.argv[1:]:
        if PAGE.exists() and PAGE.read_text(encoding="utf-8") == page():
            return 0
        print("docs/settings.md is stale: run scripts/settings_reference.py", file=sys.stderr)
        return 1
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
