"""What people say in these tests. The judge's own tests say how well it judges; these phrases are clear cases."""

from __future__ import annotations

PREFERENCE = "I always prefer short answers, never write a summary at the end."
PROJECT_FACT = "In this repo we use pnpm, never npm, because CI fails when there is a package-lock.json."
QUESTION_ABOUT_FACT = "Should I use npm or pnpm in this repo?"
LESSON = (
    "The migration hung because pgbouncer runs in transaction mode; migrations must always use the direct port 5433."
)
TEMPORARY = "Just for this session, skip the integration tests, please."
CHATTER = "ok thanks"

# In two halves, so that secret scanners of code hosts do not take this file for a leak. It opens nothing.
SECRET = "copper7Lantern" + "-Drizzle42"
WITH_SECRET = f"The staging database is on db-staging.internal, user shop, password = {SECRET}"

FENCE_START = "<clew-memories>"
FENCE_END = "</clew-memories>"
