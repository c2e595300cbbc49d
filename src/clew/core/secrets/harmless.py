"""What looks like the value of a secret and is none: placeholders, code, types, words about secrets."""

from __future__ import annotations

import re

from clew.core.patterns import LazyPattern

_PLACEHOLDER = LazyPattern(
    r"x{4,}|\*{3,}|•{3,}|\.{3}|…|_{4,}|(?:your|my|some|the|our|put|insert|enter|add|replace|set)[_-]|[_-]here\b|your[A-Z]"
    r"|^your|placeholder|example|sample|change[_-]?me|change[_-]?this|replace[_-]?me|dummy|redacted|censored|masked|todo"
    r"|fixme|foo[_-]?bar|lorem|deadbeef|test[_-]?(?:key|token|password|secret)|fake|0{8,}|1234567890{0,1}abc|abcdef0123",
    re.IGNORECASE,
)
# A reference to where the value is kept, or an expression that computes it.
_REFERENCE = LazyPattern(
    r"^[\"'(]*(?:[$%#@&<{\[]|process\.env|os\.|env[.\[(:]|ENV\b|getenv|System\.|secrets?[.:/]|vault[:/]|op://|ref:|file:"
    r"|/run/secrets|arn:|ssm:|keychain|import\.meta|config[.\[]|settings[.\[]|self\.|this\.|args\.|ctx\.|request\."
    r"|req\.|data\.|user\.|var\.|local\.|params?[.\[]|https?://|/|~/|\./|\.\./)"
)
_EXPRESSION = LazyPattern(
    r"^[A-Za-z_][\w.]*\(|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?:\(|$)|^[A-Za-z_]\w*\[|=>|::|\?\?|\?\.\w|&&|\|\||^\(|\$\{|\{\{|%\(|<[^>]*>"
)
# Names of things, not values: `client_secret_name`, `ApiKeyProvider`, `access_token`.
_IDENTIFIER = LazyPattern(
    r"^[a-z]+(?:_[a-z]+)+$|^[A-Z]+(?:_[A-Z]+)+$|^[a-z]+(?:[A-Z][a-z]+)+$|^(?:[A-Z][a-z]+){2,}$|^[a-z]+(?:-[a-z]+)+$"
)

_WORDS = """
    pass pwd tokens passwords secrets credentials credential header headers scheme bearer a an the in on at to of for from by with not no none null nil undefined true false yes unset empty blank void
    any string str text int integer number bool boolean bytes byte char varchar object optional required
    mandatory type secret password passwd passphrase token key keys value values field fields hash hashed salted
    encrypted plaintext plain hidden visible wrong right correct incorrect invalid valid expired missing stored
    saved kept known unknown here there somewhere elsewhere below above inside outside default defaults changed
    unchanged reset rotated rotate same different strong weak short long old new fine good bad easy hard secure
    insecure safe unsafe public private protected disabled enabled needed forgotten lost set read written sent
    shared leaked exposed compromised generated random unique used unused deprecated supported unsupported
    managed handled checked validated verified accepted rejected denied allowed sensitive confidential important
    case-sensitive ignored masked redacted removed deleted present absent available unavailable broken working
    too very still also only always never now being going supposed what where when why how which who whatever
    something anything nothing everything this that it its mine yours theirs ours my your his her our their just
    really probably maybe likely like about as if bcrypt argon argon2 argon2i argon2id scrypt pbkdf2 sha1 sha256
    sha512 sha-1 sha-256 sha-512 md5 hmac aes rsa base64 hex utf-8 utf8 oauth oauth2 oidc saml jwt basic bearer
    digest authentication authorization auth authenticator manager prompt input output policy policies rules rule
    login signin signup form page screen dialog dialogs file database server config configuration environment env
    vault keychain 1password bitwarden lastpass keepass dotenv budget budgets limit limits window count counts
    counter size length usage stream parser bucket ring refresh access id ids name names url urls based rotation
    management store storage provider service api sdk admin root user users you we they he she i me us them
    please sorry thanks ok okay per must should can may will would could might be been is are was were has have
    had do does did or and but then so than because until after before during while sbagliata sbagliato corretta
    corretto nuova vecchia scaduta nel nella nello sul dal del della dei che non stata salvata obbligatoria
    richiesta segreta cambiata diversa uguale vuota errata debole forte incorrecta correcta nueva vieja caducada
    segura guardada obligatoria requerida vacía débil fuerte cambiada en el la los las un una que está guardado
    stocké stockée dans le les une expiré expirée incorrecte obligatoire requis requise vide faible sécurisé fort
    nouveau nouvelle changé changée falsch richtig abgelaufen leer schwach stark sicher unsicher gespeichert
    erforderlich notwendig neu alt geändert im der die das den dem ein eine einen nicht unter bei incorreta
    errado correta nova velha expirada vazia fraca obrigatória necessária na nos nas
"""
#: Single words that follow "password:" or "the password is" without being one.
WORDS = frozenset(_WORDS.split())
_SUFFIX = LazyPattern(r"(?:ed|ing|able|ible|ful|less|ous|ment|ness|tion|tions|ity|ly|ive|ization)$")


def is_placeholder(value: str) -> bool:
    """True for a stand-in: `xxxx`, `<token>`, `YOUR_KEY`, `changeme`, `…`, one character repeated."""
    return len(set(value)) <= 2 or _PLACEHOLDER.search(value) is not None


def is_reference(value: str) -> bool:
    """True for code or a pointer to the value: `${TOKEN}`, `process.env.X`, `config.password`, `get_token()`, a path."""
    return _REFERENCE.match(value) is not None or _EXPRESSION.search(value) is not None


def is_plain_word(value: str) -> bool:
    """True for a word or an identifier that people write about secrets."""
    folded = value.strip(".,;:!?\"'").casefold()
    last_part = folded.rpartition("-")[2]
    is_adjective = last_part.isalpha() and _SUFFIX.search(last_part) is not None
    return folded in WORDS or is_adjective or _IDENTIFIER.match(value) is not None
