"""Every setting declared once: defaults < file < environment, and a report of what was used and why."""
