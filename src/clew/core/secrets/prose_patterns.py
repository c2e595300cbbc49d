"""The words and shapes that `prose` looks for, language by language; all but the last see lowered text."""

# ruff: noqa: RUF001 - words and marks of many scripts

from __future__ import annotations

import re

_SPOKEN = (
    r"passwords?|passwd|pass ?phrase|pass ?word|passcode|pwd|psk|(?:pw|pass)(?=:?[ ](?:is )?[^\s=`(\[{<]{0,60}\d)|parola (?:d['’]ordine|chiave)|contraseña"
    r"|mot de passe|mdp|(?:le|du) code (?:du )?wi-?fi|passwort|kennwort|(?:wlan|wi-?fi|netzwerk)-?schlüssel|senha|palavra-passe|пароль"
)
_DIGITS = (
    r"pin(?:[ -]?(?:code|number|nummer))?|(?:door|gate|alarm|access|unlock|entry) code|codice (?:di accesso|pin|d['’]accesso|dell['’]allarme|del cancello)"
    r"|código (?:de acceso|de acesso|pin)|code (?:pin|d['’]accès)|zugangscode|türcode"
)
_CODED = (
    r"(?:api|access|secret|auth|client|license|encryption|signing|account)[ _-]?(?:key|secret|token)|tokens?|secret"
    r"|credentials?|chiave (?:api|segreta|d['’]accesso)|clave(?: (?:api|secreta|de acceso))?|clé (?:api|secrète|d['’]accès)"
    r"|jeton|(?:api|zugriffs|geheim)-?schlüssel|chave (?:de )?(?:api|secreta|acesso)|segreto|secreto|segredo|geheimnis"
)
KEYWORD = re.compile(rf"(?<![^\W_])(?:(?P<password>{_SPOKEN})|(?P<pin>{_DIGITS})|(?P<token>{_CODED}))(?![^\W_])['’]?s?")
DENSE_HINTS = ("密", "口令", "令牌", "码", "碼", "パス", "暗証", "合言葉", "キー", "トークン", "鍵", "コード", "비밀")
DENSE = re.compile(
    r"(?:(?P<password>密码|密碼|口令|パスワード|パス(?=[は：:が])|合言葉|비밀번호)|(?P<pin>暗証番号|pin码|pinコード|验证码|門禁碼|门禁码)"
    r"|(?P<token>密钥|密鑰|令牌|トークン|apiキー|秘密鍵|アクセスキー))"
    r"[^\x21-\x7e\n。！？]{0,16}?(?:是|为|為|设为|：|は|が|を|に|「|『|“|\s|(?=[:=\"'`])|(?<=码)|(?<=ド))[:=\s\"'`「『“]{0,4}"
    r"(?P<value>[\x21-\x7e]{4,200}+)"
)
CREDENTIALS = re.compile(
    r"\b(?:cred(?:ential)?s?|log[ -]?in|sign[ -]?in|logged in|username|user|wi-?fi|wlan|accedi|accesso|accede|acceso|connexion"
    r"|anmeldung|acesso|entra)\b(?:\s[^\s/:]{1,30}){0,4}?\s{0,2}:?\s[\w.@+-]{2,60}\s?[/:,]\s?(?P<value>\S{5,100})"
)
COMMAND_LINE = re.compile(
    r"\s-u\s?[\w.@-]{1,60}:(?P<value>[^\s@\"']{4,200})|\bsshpass\s-p\s?(?P<other>[^\s\"']{4,200})"
)
# A passphrase of plain words is known by its quotation marks or by standing alone behind its keyword.
PHRASE = re.compile(
    r"(?:passphrase|pass phrase|frase di accesso|frase de contraseña|phrase de passe|passphrase|frase-senha)\b[^\n.:=\"“]{0,60}?"
    r"(?:\bis\b|\bes\b|\best\b|\bist\b|[:=èé])\s{0,3}(?:[\"“'«](?P<value>[^\"”'»\n]{8,120})[\"”'»]"
    r"|(?P<other>[a-z]{2,12}(?: [a-z]{2,12}){2,9})\s{0,3}(?:[.\n]|$))"
)
_LINKS_WORDS = """
    is was be are to as = : := -> => → è sarà era es será fue est sera était ist lautet war wird heißt heisst é
    foi eh equals c'est c’est это
"""
LINKS = frozenset(_LINKS_WORDS.split())
# "The pin of the test phone 8021": the owner stands between the word and the digits.
_OWNERS_WORDS = "of for del della dell di de du des pour vom von für do da dos das"
OWNERS = frozenset(_OWNERS_WORDS.split())
# Behind these stands the place where a secret is kept, not the secret.
_PLACES_WORDS = """
    in at on inside under from via with by of into through for nel nella nei su con da dal en dentro sur dans
    chez avec im bei mit auf aus von unter em na no com
"""
PLACES = frozenset(_PLACES_WORDS.split())
# Program text, not a value: a call, the end of one string and the beginning of the next.
CODE = re.compile(r"\w\(|[\"']\s?[:,]|[{};]|\]\s?[*,)]|\)[.,]")
TOKENS = re.compile(r"\S+")
# Anything else, such as an equals sign, makes it an assignment.
BEHIND_KEYWORD = frozenset([*" \t:\"'`*", "\n"])
EDGE = "\"'`“”„«»‚‘’「」『』()[]{}<>*"
SHAPES_OF_OTHER_THINGS = re.compile(
    r"v?\d+(?:[.,]\d+)+[a-z]?$|\d{4}-\d\d(?:-\d\d)?|[\w.-]{1,80}:\d[\d.]{0,12}$|\d{1,2}[:.h]\d\d|[\w.+-]{1,64}@[\w-]{1,63}\.[\w.]{2,63}$"
    r"|\d+[- ]?(?:char|character|digit|day|hour|minute|min|week|month|year|byte|bit|word|letter|time|step|sec|ms|kb|mb|gb|k|m|h|s|d|x|px|%)s?(?:[-/].*)?$"
    r"|[^\W\d]+['’][^\W\d]+$|[^\W\d]+(?:/[^\W\d]+)+$|(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$)|\d+(?:st|nd|rd|th)$|\."
    r"|[\w./-]{1,100}\.(?:env|ya?ml|json|toml|txt|md|py|[jt]sx?|kdbx|ini|cfg|conf|sh|go|rs|rb|pem|key|gpg|local)$",
    re.IGNORECASE,
)
