"""Wording that gives orders to the agent that reads it: found before a text may become a memory.

A person's own rules pass ("never push to main", "ignore the node_modules folder"): what is looked for is an attempt to
overrule the instructions in force, to change the agent's role, to act behind the person's back, or to carry secrets out.
"""

# ruff: noqa: RUF001 - words and marks of many scripts

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from clew.core.patterns import LazyPattern
from clew.core.text import INVISIBLE_CLASS, lower_in_place

_INVISIBLE = LazyPattern(f"[{INVISIBLE_CLASS}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """One wording. Lowered text without any of the hints cannot hold it."""

    kind: str
    hints: tuple[str, ...]
    pattern: str


def _rule(kind: str, hints: str, *alternatives: str) -> _Rule:
    return _Rule(kind=kind, hints=tuple(hints.split("|")), pattern="|".join(alternatives))


_RULES_EN = (
    r"(?:instructions?|prompts?|rules|guidelines?|directives?|directions|safety checks|guardrails|programming|training"
    r"|restrictions)"
)
_DETERMINERS_EN = (
    r"(?:all|any|every|the|your|my|these|those|previous|prior|above|earlier|preceding|system|existing|other)"
)
_PEOPLE = r"(?:user|person|human|owner|developer|operator|reviewer)"
_KEY_FILE = (
    r"(?:~?/?\.ssh/|\bid_rsa|\bid_ed25519|\.aws/credentials|\.netrc|\.pgpass|\.kube/config|/etc/shadow|\.env\b|\.npmrc"
    r"|\.gnupg|\.git-credentials|authorized_keys|wallet\.dat|cookies\.sqlite)"
)
_KEY_FILE_HINTS = ".ssh/|id_rsa|id_ed25519|.aws/|.netrc|.pgpass|.kube/|/etc/shadow|.env|.npmrc|.gnupg|.git-cred|authorized_keys|wallet.dat|cookies.sqlite"

_RULES: tuple[_Rule, ...] = (
    _rule(
        "override",
        "instruction|prompt|rules|guideline|directive|direction|safety|guardrail|programming|training|restriction",
        r"\b(?:ignore|disregard|forget|override|bypass|overrule|discard|dismiss|circumvent|do not follow|don['’]?t follow"
        rf"|stop following)\b.{{0,15}}\b{_DETERMINERS_EN}\b.{{0,30}}\b{_RULES_EN}\b",
        r"\bignor(?:e[zr]?|ieren sie)\b.{0,25}\b(?:instructions|règles|consignes|directives)\b",
        r"\b(?:oublie[zr]?|ne (?:suis|suivez) (?:pas|plus))\b.{0,25}\b(?:instructions|règles|consignes|directives)\b",
    ),
    _rule(
        "override",
        "istruzioni|regole|direttive|prompt",
        r"\b(?:ignora(?:te|re)?|dimentica(?:te|re)?|trascura|non seguire)\b.{0,25}\b(?:istruzioni|regole|direttive|prompt)\b",
    ),
    _rule(
        "override",
        "instrucciones|reglas|directrices|instruções|regras|diretrizes",
        r"\b(?:ignor[ae]r?|olvida|descarta|no sigas|esque[cç]a|desconsidere|não siga)\b.{0,25}"
        r"\b(?:instrucciones|reglas|directrices|instruções|regras|diretrizes)\b",
    ),
    _rule("override", "règles|consignes", r"\b(?:ignore[zr]?|oublie[zr]?)\b.{0,25}\b(?:règles|consignes)\b"),
    _rule(
        "override",
        "anweisung|regeln|instruktion|vorgaben|richtlinien",
        r"\b(?:ignorier(?:e|en|t)?|vergiss|vergesst|missachte|befolge nicht)\b.{0,30}"
        r"\b(?:anweisung(?:en)?|regeln|instruktionen|vorgaben|richtlinien)\b",
    ),
    _rule(
        "override",
        "忽略|无视|無視|忘记|忘掉|不要遵守|不要理会|忘れ|従わ|破棄",
        r"(?:忽略|无视|無視|忘记|忘掉|不要遵守|不要理会).{0,12}(?:指令|指示|规则|規則|提示词|要求)",
        r"(?:指示|命令|ルール|規則|プロンプト|指令).{0,6}(?:を|は)?.{0,4}(?:無視|忘れ|従わない|破棄)",
    ),
    _rule(
        "role",
        "you are|you're|you’re|from now on",
        r"\byou(?: are|['’]re) (?:now|no longer)\b.{0,40}\b(?:an?|in|bound|restricted|ai|model|developer mode|dan|root|admin)\b",
        r"\bfrom now on,? you(?: are|['’]re| act as| obey)\b",
    ),
    _rule(
        "role",
        "pretend|act |behave|roleplay",
        r"\b(?:pretend|act|behave|roleplay)\b.{0,15}\b(?:to be|as|like)\b.{0,20}\b(?:unrestricted|unfiltered|jailbroken|evil|dan"
        r"|developer mode|no (?:rules|restrictions|limits)|without (?:rules|restrictions))\b",
    ),
    _rule(
        "role",
        " mode",
        r"\b(?:enable|enter|activate|switch to)\b.{0,12}\b(?:developer|god|dan|jailbreak|unrestricted|sudo) mode\b",
    ),
    _rule("role", "system |persona", r"\b(?:new|updated|revised) (?:system (?:prompt|instructions?)|persona)\s?[:=]"),
    _rule(
        "role",
        "da ora|da adesso|d'ora|a partir de|à partir de|ab jetzt|ab sofort|从现在|從現在|これから|今から",
        r"\bda (?:ora|adesso) (?:in poi )?(?:sei|agisci come)\b|\bd['’]ora in poi (?:sei|agisci come)\b",
        r"\ba partir de (?:ahora|agora),? (?:eres|actúa como|você é|tu és)(?![^\W_])",
        r"\bà partir de maintenant,? tu es\b|\bab (?:jetzt|sofort) bist du\b",
        r"(?:从现在起|從現在起)[,，]?你(?:是|就是)|(?:これから|今から)(?:は|、)?(?:あなた|君|お前)は",
    ),
    _rule(
        "hide",
        "the user|the person|the human|the owner|the developer|the operator|the reviewer",
        rf"\b(?:do not|don['’]?t|never)\b.{{0,6}}\b(?:tell|inform|alert|let)\b.{{0,12}}\bthe {_PEOPLE}\b",
        r"\b(?:do not|don['’]?t|never)\b.{0,6}\b(?:mention|reveal|disclose|report|show)\b.{0,6}\b(?:this|it|that|these|any of this)\b"
        rf".{{0,20}}\bto the {_PEOPLE}\b",
        r"\bwithout\b.{0,6}\b(?:telling|informing|alerting|notifying|asking|the knowledge of)\b.{0,12}"
        rf"\bthe {_PEOPLE}\b",
        rf"\b(?:hide|conceal|keep)\b.{{0,6}}\b(?:this|it|these|that|your)\b.{{0,40}}\bfrom\b.{{0,4}}\bthe {_PEOPLE}\b",
    ),
    _rule(
        "hide",
        "utente|usuario|utilisateur|benutzer|nutzer|anwender|usuário",
        r"\b(?:non dirlo|non dire|nascondi).{0,30}\butente\b|\b(?:no (?:le |lo )?digas|oculta|no informes).{0,30}\b(?:al|del) usuario\b",
        r"\bne (?:le )?(?:dis|dites|informe[zr]?)\b.{0,40}\bl['’]utilisateur\b|\bcache[zr]?\b.{0,30}\bl['’]utilisateur\b",
        r"\b(?:sag|erzähle?|verrate?|verschweige?|verheimliche?)\b.{0,40}\b(?:dem|vor dem) (?:benutzer|nutzer|anwender)\b",
        r"\b(?:não (?:conte|diga|informe)|esconda|oculte)\b.{0,30}\b(?:ao|do) usuário\b",
    ),
    _rule(
        "hide",
        "用户|用戶|使用者|ユーザー",
        r"(?:不要|别|別|勿).{0,6}(?:告诉|告訴|通知|透露|提醒).{0,6}(?:用户|用戶|使用者)",
        r"ユーザー(?:に|には)?.{0,10}(?:言わない|知らせない|伝えない|秘密|隠)",
    ),
    _rule(
        "exfiltration",
        "curl|wget|ncat|nc |invoke-webrequest|iwr ",
        r"\b(?:curl|wget|nc|ncat|invoke-webrequest|iwr)\b.{0,200}?(?:\$\(|`|\$\{?\w{0,40}(?:key|token|secret|passw)|@[~/.]|<\s?[~/.]"
        rf"|{_KEY_FILE}|\|\s?(?:sudo )?(?:ba|z|da)?sh\b)",
    ),
    _rule(
        "exfiltration",
        _KEY_FILE_HINTS,
        rf"{_KEY_FILE}.{{0,120}}?\b(?:curl|wget|nc|https?://|upload|send|post|exfiltrate|e-?mail)",
        r"\b(?:cat|read|open|print|dump|show|copy|send|upload|post|leak|exfiltrate|include|output|reveal)\b.{0,40}?"
        r"(?:~?/?\.ssh/|\bid_rsa|\bid_ed25519|\.aws/credentials|/etc/shadow|\.git-credentials|\.gnupg)",
        r"\b(?:append|add|write|echo)\b.{0,200}?\bauthorized_keys\b",
    ),
    _rule(
        "exfiltration",
        "send|upload|post |exfiltrate|forward|transmit|leak|mail",
        r"\b(?:send|upload|post|exfiltrate|forward|transmit|leak|e-?mail)\b.{0,40}?\b(?:secrets?|credentials|passwords?|api[ _-]?keys?"
        r"|tokens?|environment variables|env vars|private keys?|chat history|conversation)\b.{0,40}?"
        r"(?:https?://|\bto\b.{0,20}?(?:@|\.(?:com|net|org|io|ru|xyz)\b|attacker|webhook))",
    ),
    _rule("exfiltration", "](http", r"!\[[^\]]{0,80}\]\(https?://[^)\s]{0,200}\{"),
    _rule(
        "fake-tag",
        "<|＜",
        r"[<＜]\s?/?\s?(?:system|system-reminder|system_prompt|assistant|developer|tool|tool_result|tool_call|function_calls?"
        r"|function_results?|invoke|instructions?|clew-memories|memory-context|user_query)\b[^<>]{0,80}[>＞]",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id)\|>|<</?sys>>",
    ),
    _rule("fake-tag", "[inst|[/inst|[system|[sys|[/sys", r"\[/?(?:inst|system|sys)\]"),
    _rule(
        "fake-tag",
        "system|developer|instruction",
        r"^\s{0,4}#{2,4}\s?(?:system|new instructions?|instructions? for (?:the )?(?:ai|assistant|agent))\b\s?:?\s{0,4}$",
        r"^\s{0,4}(?:system|developer)\s?(?:message|prompt|override)?\s?:\s{0,3}(?:you|ignore|new|the (?:user|assistant)|from now)\b",
        r"\bbegin (?:system|admin) (?:prompt|override|message)\b",
    ),
    _rule(
        "planted",
        "instruction|command|directive|orders",
        r"\b(?:remember|memori[sz]e|store|save|persist|add)\b.{0,20}\b(?:this|these|the following)\b.{0,12}"
        r"\b(?:instructions?|commands?|directives?|orders?)\b.{0,40}\b(?:every|all|future|always|each|permanently|next|memory)\b",
    ),
    _rule(
        "planted",
        "ai |ais |llm|language model|coding ",
        r"\b(?:ai|llm|language model)s? (?:assistants?|agents?|models?)?\b.{0,30}\b(?:reading|processing|parsing|summari[sz]ing) this\b",
        r"\b(?:attention|note|important|instructions?|message)\b.{0,12}\b(?:to|for)\b.{0,8}\b(?:any |all |the )?"
        r"(?:ai|llm|language model|coding) (?:assistants?|agents?|models?|bots?)\b",
    ),
)


@cache
def _compiled(rule: _Rule) -> re.Pattern[str]:
    return re.compile(rule.pattern, re.MULTILINE)


def find_injections(text: str) -> tuple[str, ...]:
    """The kinds of planted instruction in a text, each once; empty when there are none.

    Kinds: `override`, `role`, `hide`, `exfiltration`, `fake-tag`, `planted`. Invisible characters do not hide wording.
    """
    visible = lower_in_place(_INVISIBLE.sub("", text)).replace("\u00a0", " ")
    found: dict[str, None] = {}
    for rule in _RULES:
        if rule.kind not in found and any(hint in visible for hint in rule.hints) and _compiled(rule).search(visible):
            found[rule.kind] = None
    return tuple(found)
