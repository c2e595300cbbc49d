"""Whether a process still runs."""

from __future__ import annotations

import os
import sys

if sys.platform == "win32":
    import ctypes

    _QUERY_LIMITED_INFORMATION = 0x1000
    _STILL_ACTIVE = 259

    def is_process_alive(pid: int) -> bool:
        """Whether a process with this id runs."""
        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(_QUERY_LIMITED_INFORMATION, False, pid)  # noqa: FBT003
        if not handle:
            return False
        code = ctypes.c_ulong()
        kernel.GetExitCodeProcess(handle, ctypes.byref(code))
        kernel.CloseHandle(handle)
        return code.value == _STILL_ACTIVE

else:

    def is_process_alive(pid: int) -> bool:
        """Whether a process with this id runs (one that has ended but was not waited for counts as running)."""
        if pid <= 0:
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except (PermissionError, OverflowError):
            return True
        return True
