"""Read the settings: defaults < file < environment, with a report of what was used and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from clew.config.checks import nearest, path_below
from clew.config.declared import KNOWN_LATER, SETTINGS, GateConfig, NoodleConfig, Setting, SettingsFile
from clew.config.jsonc import parse_jsonc

Source = Literal["default", "file", "environment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportLine:
    """One setting as it is in force.

    Attributes:
        asked: what the file or the environment said, as text (masked for secrets); None when nothing was said.
        effective: what is used, as text (masked for secrets).
        source: where `effective` comes from.
    """

    setting: Setting
    asked: str | None
    effective: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All settings in force.

    Attributes:
        warnings: one sentence per bad value or unknown key; show each once.
        explicit: keys that a file or the environment set to a usable value.
    """

    gate: GateConfig
    noodle: NoodleConfig
    agent_dir: Path
    gate_file: Path
    noodle_file: Path
    report: tuple[ReportLine, ...]
    warnings: tuple[str, ...]
    explicit: frozenset[str]


def agent_folder(environment: Mapping[str, str], home: Path) -> Path:
    """Pi's agent directory: `$PI_CODING_AGENT_DIR`, else `~/.pi/agent`."""
    named = environment.get("PI_CODING_AGENT_DIR", "").strip()
    if not named:
        return home / ".pi" / "agent"
    folder: Path = path_below(home, Path.cwd(), dict(environment))(named)
    return folder


def load_config(
    environment: Mapping[str, str] | None = None, *, home: Path | None = None, agent_dir: Path | None = None
) -> Config:
    """Read both settings files and the environment.

    Never raises for what a person wrote: a bad value is reported in `warnings` and the default is used.

    Args:
        environment: defaults to the process environment.
        home: defaults to the user's home folder.
        agent_dir: Pi's agent directory, when the caller was told it.
    """
    import os

    variables = dict(os.environ if environment is None else environment)
    home = home or Path.home()
    return _Loader(variables, home, agent_dir or agent_folder(variables, home)).load()


class _Loader:
    def __init__(self, variables: dict[str, str], home: Path, agent_dir: Path) -> None:
        self.variables, self.home, self.agent_dir = variables, home, agent_dir
        self.warnings: list[str] = []
        self.report: list[ReportLine] = []
        named = variables.get("NOODLE_CONFIG_PATH", "").strip()
        noodle_file = (
            path_below(home, Path.cwd(), variables)(named) if named else home / ".pi" / "noodle" / "config.json"
        )
        self.files: dict[SettingsFile, Path] = {"gate": agent_dir / "memory-gate-config.json", "noodle": noodle_file}

    def load(self) -> Config:
        said = {file: self._read(file) for file in self.files}
        values = {setting.name: self._resolve(setting, said[setting.file]) for setting in SETTINGS}
        return Config(
            gate=GateConfig(**{s.name: values[s.name] for s in SETTINGS if s.file == "gate"}),
            noodle=NoodleConfig(**{s.name: values[s.name] for s in SETTINGS if s.file == "noodle"}),
            agent_dir=self.agent_dir,
            gate_file=self.files["gate"],
            noodle_file=self.files["noodle"],
            report=tuple(self.report),
            warnings=tuple(self.warnings),
            explicit=frozenset(line.setting.key for line in self.report if line.source != "default"),
        )

    def _read(self, file: SettingsFile) -> dict[str, Any]:
        path = self.files[file]
        try:
            content = parse_jsonc(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            self.warnings.append(f"{path}: cannot be read ({error}); defaults are used for all of its settings.")
            return {}
        if not isinstance(content, dict):
            self.warnings.append(f"{path}: must hold a JSON object; defaults are used for all of its settings.")
            return {}
        flat = dict(_flatten(content, _sections(file)))
        self._warn_unknown(file, flat)
        return flat

    def _warn_unknown(self, file: SettingsFile, flat: Mapping[str, Any]) -> None:
        known = tuple(s.key for s in SETTINGS if s.file == file) + KNOWN_LATER[file]
        for key in flat:
            if key in known:
                continue
            meant = nearest(key, known)
            hint = f" Did you mean {meant}?" if meant else ""
            self.warnings.append(f"{self.files[file]}: unknown setting {key!r} is ignored.{hint}")

    def _resolve(self, setting: Setting, said: Mapping[str, Any]) -> Any:
        value, source, asked = self._default(setting), "default", None
        for origin, raw in self._asked(setting, said):
            asked = raw
            try:
                value, source = self._check(setting, origin)(raw), origin
                break
            except ValueError as error:
                self._warn_bad(setting, origin, raw, str(error))
        self.report.append(
            ReportLine(
                setting=setting,
                asked=None if asked is None else _shown(setting, asked),
                effective=_shown(setting, value),
                source=source,  # type: ignore[arg-type]
            )
        )
        return value

    def _asked(self, setting: Setting, said: Mapping[str, Any]) -> Iterator[tuple[Source, Any]]:
        """What was asked for, strongest first. An empty variable and a JSON null count as not said."""
        from_env = self.variables.get(setting.env or "", "")
        if setting.env and from_env.strip():
            yield "environment", from_env
        if said.get(setting.key) is not None:
            yield "file", said[setting.key]

    def _check(self, setting: Setting, origin: Source) -> Any:
        if setting.check is not None:
            return setting.check
        folder = Path.cwd() if origin == "environment" else self.files[setting.file].parent
        return path_below(self.home, folder, self.variables)

    def _default(self, setting: Setting) -> Any:
        if setting.is_path and setting.default is not None:
            return self._check(setting, "default")(setting.default.replace("{agent_dir}", str(self.agent_dir)))
        return setting.default

    def _warn_bad(self, setting: Setting, origin: Source, raw: Any, allowed: str) -> None:
        place = f"${setting.env}" if origin == "environment" else f"{self.files[setting.file]}: {setting.key}"
        fallback = self._default(setting)
        self.warnings.append(
            f"{place} is {_shown(setting, raw)}, but must be {allowed}; it is ignored"
            f" (default: {_shown(setting, fallback)})."
        )


def _sections(file: SettingsFile) -> frozenset[str]:
    keys = [s.key for s in SETTINGS if s.file == file] + list(KNOWN_LATER[file])
    return frozenset(key.split(".", 1)[0] for key in keys if "." in key)


def _flatten(content: Mapping[str, Any], sections: frozenset[str]) -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        if key in sections and isinstance(value, dict):
            yield from ((f"{key}.{inner}", item) for inner, item in value.items())
        else:
            yield key, value


def _shown(setting: Setting, value: Any) -> str:
    if value is None:
        return "unset"
    return mask(str(value)) if setting.is_secret else (str(value) if isinstance(value, (Path, str)) else _json(value))


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)[:80]


def mask(secret: str) -> str:
    """A secret as it may be shown: stars for up to 8 characters, else the first and last four."""
    return "*" * len(secret) if len(secret) <= 8 else f"{secret[:4]}…{secret[-4:]}"
