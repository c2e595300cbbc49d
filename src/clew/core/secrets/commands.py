"""Secrets on a command line or in a statement of a database: `mysql -p…`, `docker login -p …`, `IDENTIFIED BY '…'`.

Each pattern begins at the name of the program and stays on its line and its side of a pipe.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clew.core.patterns import ByHead, LazyPattern, LoweredText
from clew.core.secrets.values import is_harmless

_OPTIONS = r"[^\n|;&]{0,200}?"
_VALUE = r"(?:\"(?P<v>[^\"\n]{3,200})\"|'(?P<w>[^'\n]{3,200})'|(?P<x>[^\s\"'`|;&<>]{3,200}))"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    """A lowered text without the hint cannot hold it. The value is the last group that takes part."""

    hint: str
    pattern: LazyPattern


def _command(hint: str, source: str) -> _Command:
    return _Command(hint=hint, pattern=LazyPattern(source.replace("VALUE", _VALUE).replace("OPTIONS", _OPTIONS)))


_REGISTRIES = (
    "docker", "podman", "nerdctl", "buildah", "skopeo", "helm registry", "oras", "crane auth", "az", "az acr", "oc", "argocd",
    "ibmcloud", "vault", "cosign",
)  # fmt: skip
_COMMANDS = (
    *(
        _command(client, rf"\b{client}(?:dump|admin|import|check|show|sh)?\bOPTIONS\s-p(?!rint|ort|rot|ipe|lug|ass)VALUE")
        for client in ("mysql", "mariadb")
    ),
    _command("mongo", r"\bmongo(?:sh|dump|restore|export|import)?\bOPTIONS\s-p\s?VALUE"),
    *(_command(f"{program} login", rf"\b{program} login\bOPTIONS\s-p\s?VALUE") for program in _REGISTRIES),
    _command("redis-cli", r"\bredis-cliOPTIONS\s(?:-a|--pass)[ =]VALUE"),
    _command("requirepass", r"\brequirepass\sVALUE"),
    _command("masterauth", r"\bmasterauth\sVALUE"),
    _command("identified by", r"\b(?i:identified by (?:password )?)VALUE"),
    _command("with password", r"\b(?i:with (?:encrypted )?password )VALUE"),
    _command("htpasswd", r"\bhtpasswd\s(?:-[A-Za-mo-z0-9]{1,8}\s){1,4}\S{1,200}\s\S{1,60}\sVALUE"),
    _command("htpasswd", r"\bhtpasswd\s(?:-[A-Za-mo-z0-9]{1,8}\s){0,3}-\w{0,6}n\w{0,6}\s(?:-[a-z0-9]{1,8}\s){0,3}\w\S{0,60}\sVALUE"),
    _command("net use", r"\bnet use\b[^\n]{0,200}?(?i:/user:)\S{1,80}\s{1,3}(?!/)VALUE"),
    _command("net use", r"\bnet use\s(?:\w:|\*)?\s{0,3}\\\\\S{1,200}\s{1,3}(?!/)VALUE\s[^\n]{0,40}(?i:/user:)"),
    _command("net user", r"\bnet user\s\S{1,60}\s(?![/*])VALUE"),
    _command("sshpass", r"\bsshpass\s-p\s?VALUE"),
    _command("curl", r"\bcurl\b[^\n;&]{0,400}?\s(?:-u|--user|--proxy-user)[ =]?[\"']?[\w.@-]{1,60}:VALUE"),
    _command(" -u", r"\s-u\s?[\"']?[\w.@-]{1,60}:(?P<x>[^\s@\"']{4,200})"),
    _command("pass:", r"\s-(?:pass|passin|passout)\s{1,2}pass:VALUE"),
    _command("openssl", r"\bopenssl\s(?:enc|aes|des)[\w-]{0,20}\bOPTIONS\s-k\sVALUE"),
    _command("encrypt_string", r"\bencrypt_string\s(?:--\S{1,60}\s\S{1,60}\s){0,3}(?!-)VALUE"),
    _command("--from-literal", r"--from-literal[= ][\"']?[\w.-]{1,80}=VALUE"),
    _command("%", r"\b(?:smbclient|rpcclient|smbmap|wmiexec|winexe|net)\bOPTIONS\s(?:-U|--user)[ =]?[\"']?[\w.\\/-]{1,60}%VALUE"),
    _command("ldap", r"\bldap(?:search|modify|add|delete|whoami|passwd|compare)\b[^\n|;]{0,300}?\s-w\s?VALUE"),
    _command("sudo ", r"\becho\s(?:-n\s)?VALUE\s?\|\s?sudo\s(?:-\S{1,20}\s){0,3}?-\w{0,3}S\b"),
    _command("stdin", r"\becho\s(?:-n\s)?VALUE\s?\|[^\n]{1,120}?-?-stdin\b"),
    _command("chpasswd", r"\becho\s(?:-n\s|-e\s)?[\"']?[\w.-]{1,60}:(?P<x>[^\s\"'|]{3,200})[\"']?\s?\|[^\n]{0,40}\bchpasswd\b"),
    *(_command(option, rf"\s-(?:src|dest|new)?{option}\sVALUE") for option in ("storepass", "keypass")),
    _command("wpa_passphrase", r"\bwpa_passphrase\s\S{1,64}\sVALUE"),
    _command("sqlcmd", r"\bsqlcmd\bOPTIONS\s-P\s?VALUE"),
    _command("mosquitto", r"\bmosquitto_(?:pub|sub|rr)\bOPTIONS\s-P\s?VALUE"),
    *(_command(program, rf"\b{program}\bOPTIONS\s-P\s?VALUE") for program in ("zip", "unzip")),
    _command("7z", r"\b7z[ar]?\s[a-z]\bOPTIONS\s-pVALUE"),
    _command("add_user", r"\brabbitmqctl\s(?:-\S{1,20}\s){0,2}add_user\s\S{1,60}\sVALUE"),
    _command("xfreerdp", r"\bxfreerdp3?\bOPTIONS\s/p:VALUE"),
    _command("sqlplus", r"\bsqlplus\s(?:-\w\s){0,2}\w{1,40}/(?P<x>[^\s@/]{3,100})@"),
)  # fmt: skip


_BY_HEAD = ByHead((command.hint, command) for command in _COMMANDS)


def commanded_secrets(text: str, lowered: LoweredText) -> Iterator[tuple[str, int, int]]:
    """`("password", start, end)` of every value that a command or a statement is given as a password."""
    for command in _BY_HEAD.of(lowered):
        if command.hint not in lowered.ascii:
            continue
        for match in command.pattern.finditer(text):
            start, end = match.span(match.lastgroup or 0)
            value = text[start:end].rstrip(".,;:)")
            if not value.startswith("-") and " " not in value and not is_harmless(value):
                yield "password", start, start + len(value)
