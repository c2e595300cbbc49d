"""Wording that gives orders to the agent that reads it: found before a text may become a memory.

A person's own rules pass ("never push to main", "ignore the node_modules folder"): what is looked for is an attempt to
overrule the instructions in force, to change the agent's role, to act behind the person's back, or to carry secrets out.
"""

# ruff: noqa: RUF001 - words and marks of many scripts

from __future__ import annotations

import re
from functools import cache

from clew.core.text import INVISIBLE_CLASS

_INVISIBLE = re.compile(f"[{INVISIBLE_CLASS}]")

# "the instructions you were given": what an override is aimed at.
_RULES_EN = (
    r"(?:instructions?|prompts?|rules|guidelines?|directives?|directions|safety (?:rules|guidelines|checks)|guardrails"
    r"|programming|training|restrictions)"
)
_OVERRIDE = (
    r"\b(?:ignore|disregard|forget|override|bypass|overrule|discard|dismiss|circumvent|do not follow|don'?t follow"
    r"|stop following)\b.{0,15}\b(?:all|any|every|the|your|my|these|those|previous|prior|above|earlier|preceding|system"
    r"|existing|other|foregoing)\b.{0,30}\b" + _RULES_EN + r"\b"
    r"|\b(?:ignora|ignorate|ignorare|dimentica|trascura|non seguire)\b.{0,25}\b(?:istruzioni|regole|direttive|prompt)\b"
    r"|\b(?:ignora|ignore|olvida|descarta|no sigas)\b.{0,25}\b(?:instrucciones|reglas|directrices)\b"
    r"|\b(?:ignore[zr]?|oublie[zr]?|ne (?:suis|suivez) (?:pas|plus))\b.{0,25}\b(?:instructions|règles|consignes|directives)\b"
    r"|\b(?:ignorier(?:e|en|t)?|vergiss|vergesst|missachte|befolge nicht)\b.{0,30}"
    r"\b(?:anweisung(?:en)?|regeln|instruktionen|vorgaben|richtlinien)\b"
    r"|\b(?:ignor[ea]r?|esque[cç]a|desconsidere|não siga)\b.{0,25}\b(?:instruções|regras|diretrizes)\b"
    r"|(?:忽略|无视|無視|忘记|忘掉|不要遵守|不要理会).{0,12}(?:指令|指示|规则|提示词|说明|要求)"
    r"|(?:指示|命令|ルール|規則|プロンプト|指令).{0,6}(?:を|は)?.{0,4}(?:無視|忘れ|従わない|破棄)"
)
_ROLE = (
    r"\byou are (?:now|no longer)\b.{0,40}\b(?:an?|the|in|bound|restricted|assistant|ai|model|developer mode|dan|root|admin)\b"
    r"|\b(?:pretend|act|behave|roleplay)\b.{0,15}\b(?:to be|as|like)\b.{0,20}"
    r"\b(?:unrestricted|unfiltered|jailbroken|evil|dan|root|developer mode|no (?:rules|restrictions|limits)|without (?:rules|restrictions))\b"
    r"|\b(?:enable|enter|activate|switch to)\b.{0,12}\b(?:developer|god|dan|jailbreak|unrestricted|sudo) mode\b"
    r"|\b(?:new|updated|revised) (?:system (?:prompt|instructions?)|persona)\s?[:=]|\bfrom now on,? you (?:are|act as|obey)\b"
    r"|\bda (?:ora|adesso) (?:in poi )?(?:sei|agisci come)\b|\ba partir de ahora (?:eres|actúa como)\b"
    r"|\bà partir de maintenant,? tu es\b|\bab (?:jetzt|sofort) bist du\b|\ba partir de agora,? (?:você|tu) (?:é|és)\b"
    r"|从现在起,?，?你(?:是|就是)|(?:これから|今から)(?:は|、)?(?:あなた|君|お前)は"
)
_PEOPLE = r"(?:user|person|human|owner|developer|operator|anyone|reviewer)"
_HIDE = (
    r"\b(?:do not|don'?t|never)\b.{0,6}\b(?:tell|inform|alert|let)\b.{0,12}\bthe " + _PEOPLE + r"\b"
    r"|\b(?:do not|don'?t|never)\b.{0,6}\b(?:mention|reveal|disclose|report|show)\b.{0,6}\b(?:this|it|that|these|any of this)\b"
    r".{0,20}\bto the " + _PEOPLE + r"\b"
    r"|\bwithout\b.{0,6}\b(?:telling|informing|alerting|notifying|asking|the knowledge of)\b.{0,12}\bthe "
    + _PEOPLE
    + r"\b"
    r"|\b(?:hide|conceal|keep)\b.{0,6}\b(?:this|it|these|that|your)\b.{0,40}\bfrom\b.{0,4}\bthe " + _PEOPLE + r"\b"
    r"|\b(?:non dirlo|non dire|nascondi).{0,30}\b(?:all['’]utente|utente)\b"
    r"|\b(?:no (?:le )?digas|oculta|no informes).{0,30}\b(?:al|del) usuario\b"
    r"|\bne (?:dis|dites|le dis|informe[zr]?)\b.{0,40}\bl['’]utilisateur\b|\bcache[zr]?\b.{0,30}\bl['’]utilisateur\b"
    r"|\b(?:sag|erzähle?|verrate?|verschweige?|verheimliche?)\b.{0,40}\b(?:dem|vor dem) (?:benutzer|nutzer|anwender)\b"
    r"|\b(?:não (?:conte|diga|informe)|esconda|oculte)\b.{0,30}\b(?:ao|do) usuário\b"
    r"|(?:不要|别|別|勿).{0,6}(?:告诉|告訴|通知|透露|提醒).{0,6}(?:用户|用戶|使用者)"
    r"|ユーザー(?:に|には)?.{0,10}(?:言わない|知らせない|伝えない|秘密|隠)"
)
_KEY_FILE = (
    r"(?:~?/?\.ssh/|id_rsa|id_ed25519|\.aws/credentials|\.netrc|\.pgpass|\.kube/config|/etc/shadow|\.env\b|\.npmrc"
    r"|\.gnupg|\.git-credentials|authorized_keys|wallet\.dat|login ?data|cookies\.sqlite)"
)
_EXFILTRATE = (
    r"\b(?:curl|wget|nc|ncat|invoke-webrequest|iwr|fetch)\b.{0,200}(?:\$\(|`|\$\{?\w{0,40}(?:key|token|secret|passw)"
    r"|@[~/.]|<\s?[~/.]|" + _KEY_FILE + r")"
    r"|" + _KEY_FILE + r".{0,120}\b(?:curl|wget|nc|https?://|upload|send|post|exfiltrate|email)"
    r"|\b(?:cat|read|open|print|dump|show|copy|send|upload|post|leak|exfiltrate|include|output|reveal)\b.{0,40}"
    r"(?:~?/?\.ssh/|\bid_rsa|\bid_ed25519|\.aws/credentials|/etc/shadow|\.git-credentials|\.gnupg)"
    r"|\b(?:send|upload|post|exfiltrate|forward|transmit|leak|e-?mail)\b.{0,60}"
    r"\b(?:secrets?|credentials|passwords?|api[ _-]?keys?|tokens?|environment variables|env vars|private keys?|chat history|conversation)\b"
    r".{0,60}(?:https?://|\bto\b.{0,20}(?:@|\.(?:com|net|org|io|ru|xyz)\b|server|webhook|attacker))"
    r"|\b(?:curl|wget)\b.{0,200}\|\s?(?:sudo )?(?:ba|z|da)?sh\b"
    r"|!\[[^\]]{0,80}\]\(https?://[^)\s]{0,200}\{"
    r"|\b(?:append|add|write|echo)\b.{0,200}\bauthorized_keys\b"
)
_FAKE_TAG = (
    r"[<＜]\s?/?\s?(?:system|system-reminder|system_prompt|assistant|developer|tool|tool_result|tool_call|function_calls?"
    r"|function_results?|invoke|instructions?|clew-memories|memory-context|user_query|im_start|im_end)\b[^<>]{0,80}[>＞]"
    r"|<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id)\|>"
    r"|\[/?(?:inst|system|sys)\]|<</?sys>>|^\s{0,4}#{2,4}\s?(?:system|new instructions?|instructions? for (?:the )?(?:ai|assistant|agent))\b\s?:?\s*$"
    r"|^\s{0,4}(?:system|developer)\s?(?:message|prompt|override)?\s?:\s{0,3}(?:you|ignore|new|the (?:user|assistant)|from now)\b"
    r"|\bbegin (?:system|admin) (?:prompt|override|message)\b"
)
_PLANT = (
    r"\b(?:remember|memori[sz]e|store|save|persist|add)\b.{0,20}\b(?:this|these|the following)\b.{0,12}"
    r"\b(?:instructions?|commands?|directives?|orders?)\b.{0,40}\b(?:every|all|future|always|each|permanently|next|memory)\b"
    r"|\b(?:ai|llm|language model)s? (?:assistants?|agents?|models?)?\b.{0,30}\b(?:reading|processing|parsing|summari[sz]ing) this\b"
    r"|\b(?:attention|note|important|instructions?|message)\b.{0,12}\b(?:to|for)\b.{0,8}\b(?:any |all |the )?"
    r"(?:ai|llm|language model|coding) (?:assistants?|agents?|models?|bots?)\b"
)


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    sources = {
        "override": _OVERRIDE,
        "role": _ROLE,
        "hide": _HIDE,
        "exfiltration": _EXFILTRATE,
        "fake-tag": _FAKE_TAG,
        "planted": _PLANT,
    }
    return tuple((kind, re.compile(source, re.IGNORECASE | re.MULTILINE)) for kind, source in sources.items())


def find_injections(text: str) -> tuple[str, ...]:
    """The kinds of planted instruction in a text, each once, in a fixed order; empty when there are none.

    Kinds: `override`, `role`, `hide`, `exfiltration`, `fake-tag`, `planted`. Invisible characters do not hide wording.
    """
    visible = _INVISIBLE.sub("", text).replace("\u00a0", " ")
    return tuple(kind for kind, pattern in _patterns() if pattern.search(visible))
