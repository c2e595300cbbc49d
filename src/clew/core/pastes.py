"""Tells what a person typed from what they pasted: only the typed part speaks for them.

Line by line, one pass. Each detector looks at the line where a paste may begin and says where it ends; all of them
read only the lines that they then claim, so the work grows with the text and not faster.
"""

# ruff: noqa: RUF001 - words and marks of many scripts

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import itemgetter

from clew.core.patterns import LazyPattern, lower_in_place

_LONG_LINE_CHARS = 2_000
_LONG_AFTER_INTRODUCTION_CHARS = 200
_CLOSING_REQUEST_CHARS = 300

_FENCE = LazyPattern(r"\s{0,3}(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,}|\"{3}|'{3})")
_QUOTE = LazyPattern(r"\s{0,3}(?:>|\|\s?>)")
_QUOTE_HEADER = LazyPattern(
    r"(?:on|am|le|el|il|em)\b.{5,200}\b(?:wrote|schrieb|a écrit|escribió|ha scritto|escreveu)\s?:\s*$"
    r"|-{3,}\s?(?:original|forwarded|ursprüngliche|messaggio|mensaje|message)\b.{0,60}-{3,}\s*$",
    re.IGNORECASE,
)
_DIFF_START = LazyPattern(r"diff --git |@@ -\d|--- (?:a/|/dev/null)|Index: \S")
_DIFF_LINE = LazyPattern(
    r"[-+ \\]|@@ |diff --git |index [0-9a-f]|(?:new|deleted) file mode|similarity |rename |Binary files"
)
_MARKER_BEGIN = LazyPattern(r"-----BEGIN [A-Z0-9 ]{1,60}-----")
_MARKER_END = LazyPattern(r"-----END [A-Z0-9 ]{1,60}-----")
_TAG = LazyPattern(r"\s{0,8}<([A-Za-z][\w:-]{0,60})[^<>]{0,500}>|\s{0,8}<[!?/][A-Za-z]")
_CLOSING_TAG = LazyPattern(r"</([A-Za-z][\w:-]{0,60})\s{0,5}>")
_LOG = LazyPattern(
    r"\s{0,8}(?:"
    r"\[?\d{4}[-/]\d\d[-/]\d\d[T ,]\s?\d\d:\d\d"
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?\s"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "
    r"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|SEVERE)(?:\]|\s?:|\s{1,4}\[|\s{2,})"
    r"|npm (?:ERR!|WARN|error)|(?:error|warning)(?:\[[A-Z]?\d+\])?: |\S{1,200}:\d+(?::\d+)?: (?:error|warning|note)\b"
    r"|\d{1,3}(?:\.\d{1,3}){3} - "
    r"|(?:[$%❯]|>>>|In \[\d+\]:|PS [A-Z]:\\[^>]{0,200}>) \S"
    r"|\S{1,60}@\S{1,60}:[^$#]{0,200}[$#] "
    r")"
)
_TRACE = LazyPattern(
    r"Traceback \(most recent call last\):|\s+at \S.{0,300}[(:]\S{0,300}:?\d|\s+at (?:async )?[\w.$<>]{1,200} ?\("
    r"|\s+File \".{1,300}\", line \d+|Exception in thread |Caused by: |\s*\.{3} \d+ more\b|goroutine \d+ \["
    r"|thread '.{1,100}' panicked at|\s*\d+: 0x[0-9a-f]+ - |\s+from \S{1,300}:\d+:in |\s*[~^]{2,}\s*$|#\d+\s+0x[0-9a-f]"
)
_ERROR_HEAD = LazyPattern(
    r"(?:Uncaught )?[\w.$]{0,120}(?:Error|Exception|Warning|Interrupt|Panic)(?: \[\w+\])?(?::\s|:?$)"
)
_CODE = LazyPattern(
    r"\s*(?:(?:def|class|async def|func|fn|pub|impl|struct|enum|import|from|export|const|let|var|function|interface"
    r"|type|return|if|for|while|else|elif|try|except|catch|switch|package|using|namespace|public|private|static"
    r"|SELECT|INSERT|UPDATE|CREATE|#include|@\w+)\b.{0,500}[:{;(,)\]=]|[}\])]+[;,]?|.{0,500}[{;])\s*$"
    r"|\s*(?:import|from|#include|package|using) \S{1,200}(?: import .{1,200})?\s*$"
)
_CODE_ENDS = frozenset(":{;(,)]=}")
_IMPORTS = LazyPattern(r"\s*(?:import|from|#include|package|using) ")
_TABLE = LazyPattern(r"\s{0,8}\|.{0,2000}\|\s*$")
_INDENTED = LazyPattern(r"(?: {4}|\t)\s*\S")
_JSON_START = LazyPattern(r"""\s{0,8}(?:[\[{]\s*$|\{\s*["'}]|\[\s*[\[{"\d])""")
_NOUN = (
    r"(?:page|article|docs?|documentation|readme|logs?|output|e-?mail|mail|message|ticket|issue|transcript|thread"
    r"|comments?|review|response|reply|website|site|contents?|text|file|snippet|excerpt|quote|trace|errors?|result"
    r"|changelog|wiki|post|chat|conversation|pagina|articolo|documentazione|messaggio|testo|risposta|contenuto|errore"
    r"|página|artículo|documentación|mensaje|texto|respuesta|contenido|correo|registro|texte|réponse|contenu|courriel"
    r"|journal|erreur|seite|artikel|dokumentation|nachricht|antwort|inhalt|protokoll|fehler|ausgabe|artigo|mensagem"
    r"|resposta|conteúdo|erro)"
)
_HAS_NOUN = LazyPattern(
    rf"\b{_NOUN}\b|这是|以下|下面|如下|これは|こちら|网页|页面|文章|文档|日志|邮件|原文|输出|报错|ページ|記事|ログ|メール|本文|出力"
)
# Such as: here is the page, the README says, Log; each with a colon. Sees lowered text.
_INTRODUCTION = LazyPattern(
    rf"\b(?:here(?:['’]s|\s(?:is|are|comes))?|this is|these are|below|following|pasted?|pasting|copied|got|getting|from"
    rf"|ecco|questo è|questa è|incollo|aquí (?:está|va|tienes)|esto es|pego|voici|voilà|je colle|hier (?:ist|sind|kommt)"
    rf"|aqui está|segue|colo)\b.{{0,80}}\b{_NOUN}\b.{{0,60}}:"
    rf"|\b{_NOUN}\b.{{0,40}}\b(?:says?|said|reads?|shows?|dice|dit|sagt|steht|diz|mostra|muestra)\b.{{0,20}}:"
    rf"|^\W{{0,4}}(?:the\s)?{_NOUN}\s?:"
    r"|(?:这是|以下|下面|如下|これは|こちら).{0,20}[:：]|(?:网页|页面|文章|文档|日志|邮件|原文|输出|报错|ページ|記事|ログ|メール|本文|出力)"
    r".{0,10}[:：]"
)
_CLOSING_REQUEST = LazyPattern(
    r"(?:(?:can|could|would|will) you|please|what|why|how|where|when|which|who|is|are|does|do|should|fix|explain"
    r"|summari[sz]e|translate|check|tell me|any idea|help|review|compare|find|write|make|now|thanks"
    r"|puoi|potresti|per favore|che|cosa|perché|come|riassumi|spiega|puedes|por favor|qué|cómo|resume|explica"
    r"|peux-tu|pouvez-vous|s'il|que|pourquoi|comment|résume|kannst|könntest|bitte|was|warum|wie|fasse|erkläre"
    r"|você pode|pode|o que|como|resuma|请|帮|能|什么|为什么|要約|説明|教えて)(?![\w-])"
    r"|.{1,290}[?？]\s*$",
    re.IGNORECASE | re.DOTALL,
)
_PLANTED_ASK = LazyPattern(
    r"remember|memor|forget|don't forget|ricorda|dimentic|recuerda|olvid|souviens|retiens|oubli|merk|vergiss|lembr"
    r"|esque[cç]|记住|記住|别忘|覚え|忘れ|ignore|from now on",
    re.IGNORECASE,
)

_Detector = Callable[[Sequence[str], int], int]


def set_aside_pastes(text: str) -> tuple[str, str]:
    """Part a message into what the person typed and what they pasted; each keeps its lines in order.

    Pasted are: code fences (also one that never closes), quoted lines and the header of a quoted mail, diffs, logs,
    shell transcripts, stack traces, JSON, markup, tables, code, PEM blocks, single lines of more than 2,000
    characters, and whatever follows an introduction such as "here is the page:". Behind such an introduction only a
    last short paragraph that asks something counts as typed, unless it asks to remember: a page can say that, too.
    """
    pieces = _pieces(text)
    typed = "\n".join(piece for is_pasted, piece in pieces if not is_pasted)
    pasted = "\n".join(piece for is_pasted, piece in pieces if is_pasted)
    return typed.strip(), pasted.strip("\n")


def abridge_pastes(text: str) -> str:
    """The text with one quoted line in the place of each pasted part, saying how long it was.

    A quoted line is a paste again, so that `set_aside_pastes` finds the same typed part in the result.
    """
    runs = groupby(_pieces(text), key=itemgetter(0))
    return "\n".join(_quote_length(run) if is_pasted else "\n".join(map(itemgetter(1), run)) for is_pasted, run in runs)


def _quote_length(run: Iterable[tuple[bool, str]]) -> str:
    chars = sum(len(piece) + 1 for _, piece in run) - 1
    return f"> [… {chars} characters of pasted text left out …]"


def _pieces(text: str) -> list[tuple[bool, str]]:
    """The lines of a text in order, each with whether it is pasted; a line that introduces its own rest is two."""
    lines = text.splitlines()
    closings = _last_closing_tags(lines)
    is_pasted = [False] * len(lines)
    line = 0
    while line < len(lines):
        end = max(_first_claim(lines, line), _markup(lines, line, closings))
        for index in range(line, end):
            is_pasted[index] = True
        line = max(end, line + 1)
    return _part(lines, is_pasted)


def _first_claim(lines: Sequence[str], start: int) -> int:
    for detector in _DETECTORS:
        end = detector(lines, start)
        if end > start:
            return end
    return start


def _part(lines: list[str], is_pasted: list[bool]) -> list[tuple[bool, str]]:
    pieces: list[tuple[bool, str]] = []
    introduced = False
    for index, line in enumerate(lines):
        if introduced and not is_pasted[index]:
            end = _closing_request_start(lines, is_pasted, index)
            return [*pieces, *((True, line) for line in lines[index:end]), *((False, line) for line in lines[end:])]
        if is_pasted[index]:
            pieces.append((True, line))
            introduced = False
            continue
        own, rest, introduced = _split_introduction(line)
        pieces.append((False, own))
        if rest:
            pieces.append((True, rest))
    return pieces


def _split_introduction(line: str) -> tuple[str, str, bool]:
    """The line up to its introduction, what follows on the same line, and whether the next lines are introduced."""
    lowered = lower_in_place(line[:_LONG_LINE_CHARS])
    last_colon = max(lowered.rfind(":"), lowered.rfind("："))
    if last_colon < 0 or _HAS_NOUN.search(lowered, 0, last_colon) is None:
        return line, "", False
    for match in _INTRODUCTION.finditer(lowered, 0, last_colon + 1):
        rest = line[match.end() :]
        if not rest.strip():
            return line, "", True
        if len(rest) >= _LONG_AFTER_INTRODUCTION_CHARS:
            return line[: match.end()], rest, True
    return line, "", False


def _closing_request_start(lines: Sequence[str], is_pasted: Sequence[bool], start: int) -> int:
    """Where the last paragraph begins, if it is the person's own; otherwise the end of the text."""
    end = len(lines)
    while end > start and not lines[end - 1].strip():
        end -= 1
    begin = end
    while begin > start and lines[begin - 1].strip() and not is_pasted[begin - 1]:
        begin -= 1
    paragraph = "\n".join(lines[begin:end]).strip()
    is_own = (
        begin > start
        and 0 < len(paragraph) <= _CLOSING_REQUEST_CHARS
        and _CLOSING_REQUEST.match(paragraph) is not None
        and _PLANTED_ASK.search(paragraph) is None
    )
    return begin if is_own else len(lines)


def _fenced(lines: Sequence[str], start: int) -> int:
    opening = _FENCE.match(lines[start])
    if opening is None:
        return start
    mark = opening.group(1)
    if mark in lines[start][opening.end() :]:
        return start + 1
    for end in range(start + 1, len(lines)):
        if lines[end].strip().startswith(mark):
            return end + 1
    return len(lines)


def _quoted(lines: Sequence[str], start: int) -> int:
    if _QUOTE.match(lines[start]):
        return start + 1
    is_header = _QUOTE_HEADER.match(lines[start].strip()[:300]) is not None
    return start + 1 if is_header else start


def _diff(lines: Sequence[str], start: int) -> int:
    if not _DIFF_START.match(lines[start]):
        return start
    end = start + 1
    while end < len(lines) and _DIFF_LINE.match(lines[end]):
        end += 1
    return end


def _marked(lines: Sequence[str], start: int) -> int:
    if not _MARKER_BEGIN.search(lines[start][:200]):
        return start
    for end in range(start, len(lines)):
        if _MARKER_END.search(lines[end][:200]):
            return end + 1
    return len(lines)


def _trace(lines: Sequence[str], start: int) -> int:
    head = start
    if _ERROR_HEAD.match(lines[start][:300]) and start + 1 < len(lines):
        head += 1
    if not _TRACE.match(lines[head][:700]):
        return start
    end = head + 1
    while end < len(lines) and (lines[end][:1] in {" ", "\t"} or _TRACE.match(lines[end][:700])):
        end += 1
    if end < len(lines) and _ERROR_HEAD.match(lines[end][:300]):
        end += 1
    return end


def _logged(lines: Sequence[str], start: int) -> int:
    return start + 1 if _LOG.match(lines[start][:700]) else start


def _json(lines: Sequence[str], start: int) -> int:
    if not _JSON_START.match(lines[start][:300]):
        return start
    depth = 0
    for end in range(start, len(lines)):
        line = lines[end]
        if not line.strip():
            return end
        depth += sum(map(line.count, "{[")) - sum(map(line.count, "}]"))
        if depth <= 0:
            return end + 1
    return len(lines)


def _table(lines: Sequence[str], start: int) -> int:
    end = _run(lines, start, _TABLE)
    return end if end - start >= 2 else start


def _indented(lines: Sequence[str], start: int) -> int:
    if start and lines[start - 1].strip():
        return start
    end = _run(lines, start, _INDENTED)
    return end if end - start >= 2 else start


def _is_code(line: str) -> bool:
    """Whether a line looks like one of a program; most prose is told by its last character alone."""
    end = line[:600].rstrip()[-1:]
    return (end in _CODE_ENDS or _IMPORTS.match(line) is not None) and _CODE.match(line[:600]) is not None


def _code(lines: Sequence[str], start: int) -> int:
    if not _is_code(lines[start]):
        return start
    end = start + 1
    hits = 1
    while end < len(lines) and lines[end].strip():
        is_code = _is_code(lines[end])
        if not is_code and lines[end][:1] not in {" ", "\t"}:
            break
        hits += is_code
        end += 1
    return end if hits >= 3 or (hits >= 2 and end - start >= 3) else start


def _run(lines: Sequence[str], start: int, pattern: LazyPattern) -> int:
    end = start
    while end < len(lines) and pattern.match(lines[end][:_LONG_LINE_CHARS]):
        end += 1
    return end


def _long(lines: Sequence[str], start: int) -> int:
    return start + 1 if len(lines[start]) > _LONG_LINE_CHARS else start


def _last_closing_tags(lines: Sequence[str]) -> dict[str, int]:
    return {
        tag.lower(): index for index, line in enumerate(lines) if "</" in line for tag in _CLOSING_TAG.findall(line)
    }


def _markup(lines: Sequence[str], start: int, closings: dict[str, int]) -> int:
    match = _TAG.match(lines[start][:700])
    if match is None:
        return start
    tag = (match.group(1) or "").lower()
    return max(start, closings.get(tag, start)) + 1


_DETECTORS: tuple[_Detector, ...] = (
    _fenced,
    _quoted,
    _diff,
    _marked,
    _trace,
    _json,
    _logged,
    _table,
    _indented,
    _code,
    _long,
)
