"""One process that uses a store, for tests with several. Usage: store_worker.py JOB DATABASE [ARGUMENT]."""

from __future__ import annotations

import sys
from pathlib import Path

from clew.core.records import CapturedState, Judgement, NewMemory, Provenance, State
from clew.store.store import Store


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def memory(text: str) -> NewMemory:
    return NewMemory(text=text, provenance=Provenance(origin="gate"))


def wait_for_start() -> None:
    """Say that this process is ready, then wait for the test to let all of them go."""
    say("ready")
    sys.stdin.readline()


def write(database: Path, name: str, amount: str = "60") -> None:
    """Open the file and add memories; each is acknowledged when its save has returned."""
    wait_for_start()
    with Store.open(database) as store:
        for number in range(int(amount)):
            text = f"writer {name} wrote fact {number}"
            store.add(memory(text))
            say(text)


def settle(database: Path, name: str) -> None:
    """Settle whatever the journal holds; say which states this process won."""
    with Store.open(database) as store:
        wait_for_start()
        for state in store.unjudged(limit=1000):
            judgement = Judgement(
                key=state.key,
                entry_id=state.entry_id,
                outcome="saved",
                reason=name,
                scores={},
                target="user",
                duration_ms=1,
                decision_model="m",
            )
            if store.settle(judgement, save=memory(state.state.user)) is not None:
                say(state.key)


def journal(database: Path, name: str) -> None:
    """Journal one open and one closed state, then live until killed."""
    import os

    with Store.open(database) as store:
        for key, is_open in (("open", True), ("closed", False)):
            state = State(user=f"{name} {key}")
            store.journal(
                [
                    CapturedState(
                        key=key,
                        entry_id=key,
                        session_id="s",
                        project_key=None,
                        state=state,
                        timestamp_ms=1,
                        is_open=is_open,
                        owner=os.getpid(),
                    )
                ]
            )
        wait_for_start()


def hold(database: Path, _name: str) -> None:
    """Read an old state of the database until told to stop."""
    with Store.open(database) as store, store._database.read() as reader:
        reader.rows("SELECT count(*) FROM memories")
        wait_for_start()


def fill_disk(database: Path, limit_bytes: str) -> None:
    """Write under a limit on file size until it is hit; then read what is there."""
    import resource

    from clew.core.errors import StoreUnavailable
    from clew.core.records import Visibility

    with Store.open(database) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit_bytes), int(limit_bytes)))
        number = 0
        try:
            while True:
                store.add(memory(f"fact {number} " + "x y z " * 200))
                number += 1
        except StoreUnavailable as error:
            say(f"{type(error).__name__} {number} {store.count(Visibility(everywhere=True))}")


def open_unprivileged(database: Path, _name: str) -> None:
    """Open and write as a user without rights; say which error came."""
    import os

    from clew.core.errors import ClewError

    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        with Store.open(database) as store:
            store.add(memory("a fact"))
        say("no error")
    except ClewError as error:
        say(type(error).__name__)


JOBS = {job.__name__: job for job in (write, settle, journal, hold, fill_disk, open_unprivileged)}

if __name__ == "__main__":
    JOBS[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
