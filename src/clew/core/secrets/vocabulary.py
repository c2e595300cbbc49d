"""The words that announce a secret, language by language. All of them look at lowered text."""

# ruff: noqa: RUF001 - words and marks of many scripts

from __future__ import annotations

from clew.core.patterns import Vocabulary

_PLACE_IT = r"(?:(?:di |d['’])?accesso|pin|(?:dell['’])?allarme|(?:del )?(?:cancello|portone|garage)|(?:della )?(?:porta|cassaforte)|di (?:sblocco|sicurezza|verifica))"
_PLACE_ES = r"(?:de acceso|pin|de la (?:alarma|puerta|caja fuerte)|del (?:portón|garaje|portal|edificio)|de (?:alarma|seguridad|verificación|desbloqueo))"
_PLACE_PT = (
    r"(?:de acesso|pin|do (?:portão|alarme|cofre|prédio)|da (?:porta|garagem)|de (?:segurança|verificação|desbloqueio))"
)
_PLACE_FR = (
    r"(?:pin|sms|(?:d['’]|de l['’])(?:accès|alarme|entrée|immeuble)|d[ue] (?:portail|coffre|garage|vérification"
    r"|déverrouillage|sécurité|confirmation)|de la porte|du bâtiment)"
)
_API_KEY = r"(?: [\w'’]{1,12}){0,3}[ '’-]api(?:-\w{1,12})?(?: \w{1,12})?"

#: Words whose plain value may be any word: a password.
PASSWORDS = (
    "passwords?", "passwd", "pass ?phrase", "pass ?code", "p a s s w o r d", "pwd", "psk", "pw", "pass word",
    r"pass(?=:?[ ](?:is )?[^\s=`(\[{<]{0,60}\d)",
    *(rf"{who} pass" for who in ("root", "admin", "sudo", "wifi", "wi-fi", "ssh", "ftp", "vpn", "login", "db", "user")),
    "parola d['’]ordine", "parola chiave", "frase di accesso", "contraseña", "frase de contraseña", "mot de passe",
    "phrase de passe", "mdp", "le code (?:du )?wi-?fi", "du code (?:du )?wi-?fi", "passwort", "kennwort",
    "wlan-?schlüssel", "wifi-?schlüssel", "wi-fi-?schlüssel", "netzwerk-?schlüssel", "senha", "palavra-passe", "frase-senha",
    "wachtwoord(?:zin)?", "has[łl](?:o|a|em)", "lösenord(?:et)?", "passord(?:et)?", "adgangskode", "salasana", "heslo",
    "mật khẩu", "पासवर्ड", "كلمة السر", "كلمة المرور", "كلمة سر", "парол(?:ь|я|ем|і)", "şifre(?:si|m|niz|miz)?",
    "parolası", "암호",
)  # fmt: skip
#: Words whose value is a few digits.
PINS = (
    "pin(?:[ -]?(?:code|kode|number|nummer|numret|numarası))?", "pincode", "digicode", "geheimzahl",
    *(rf"{place} code" for place in ("door", "gate", "alarm", "access", "unlock", "entry", "entrance", "garage", "safe", "building", "keypad")),
    *(rf"{way} ?(?:pass)?code" for way in ("2fa", "mfa", "otp", "totp", "sms", "verification", "one[- ]time", "login", "confirmation", "authenticator", "two[- ]factor")),
    "otp", rf"codice {_PLACE_IT}", "codice (?:2fa|otp|sms)", rf"código {_PLACE_ES}", rf"código {_PLACE_PT}",
    "código (?:2fa|sms|otp)", rf"code {_PLACE_FR}", "code (?:2fa|otp)",
    *(rf"{what}-?code" for what in ("zugangs", "zugriffs", "alarm", "tür", "tor", "sicherheits", "bestätigungs", "verifizierungs", "entsperr", "tresor", "garagen", "2fa-")),
    "toegangscode", "alarmcode", "kod (?:do|pin|alarmu|dostępu)", "пин-?код", "код (?:доступа|подтверждения|домофона|от двери|сигнализации)",
    "şifre kodu", "mã pin", "mã otp", "رمز (?:الدخول|التحقق)", "पिन",
)  # fmt: skip
#: Words whose value is long and mixed.
TOKENS = (
    *(rf"{what}[ _-]?(?:key|secret|token)" for what in ("api", "access", "secret", "auth", "client", "license", "encryption", "signing", "account", "unseal", "master", "deploy")),
    "tokens?", "secret", "credentials?", "chiave (?:api|segreta|d['’]accesso)", "clave(?: (?:api|secreta|de acceso))?",
    "clé (?:api|secrète|d['’]accès)", "jeton", "api-?schlüssel", "zugriffs-?schlüssel", "geheim-?schlüssel",
    "chave (?:de )?(?:api|secreta|acesso)", "segreto", "secreto", "segredo", "geheimnis",
    *(word + _API_KEY for word in ("schlüssel", "key", "chiave", "chave", "clé", "sleutel", "nyckel", "klucz", "ключ")),
    "api-?sleutel", "api-?nyckel", "klucz api", "api anahtarı", "api-?ключ", "токен", "ключ api", "khóa api",
)  # fmt: skip

#: What a person says: whole words only.
SPOKEN = Vocabulary(
    {"password": PASSWORDS, "pin": PINS, "token": TOKENS},
    before=r"(?<![^\W_])",
    after=r"(?![^\W_])['’]?s?",
    at_word_start=True,
)

#: What names a field, a variable or a column; it may be the end of a longer name.
NAMES = Vocabulary(
    {
        "password": (
            "password", "passwd", "passphrase", "passcode", "pwd", r"pass(?<=[_-]pass)", r"pass(?<![a-z]pass)(?=[\"']?\s?[=:|>])",
            r"pw(?<![a-z]pw)(?=[\"']?\s?[=:|>])", "contraseña", "senha", "passwort", "kennwort", "mot_?de_?passe",
            "mot de passe", "mdp", "wachtwoord", "hasło", "lösenord", "passord", "adgangskode", "salasana", "heslo", "şifre",
            "mật khẩu", "пароль", "पासवर्ड", "كلمة السر", "كلمة المرور", "requirepass", "masterauth",
        ),
        "token": (
            "api[_-]?(?:key|secret|token)", "apikey",
            *(rf"{what}[_-]?key" for what in ("access", "auth", "secret", "private", "encryption", "signing", "master", "account", "license", "deploy", "service", "app", "application", "session")),
            "client[_-]?secret", "secret", "token", "credentials?", "authorization", "x-api-key",
        ),
    }
)  # fmt: skip

_WORDS_WITHOUT_BLANKS: dict[str, tuple[str, ...]] = {
    "password": ("密码", "密碼", "口令", "パスワード", "パス(?=[は：:が])", "合言葉", "비밀번호", "비번"),
    "pin": (
        "暗証番号", "pin码", "pinコード", "验证码", "驗證碼", "动态码", "安全码", "解锁码", "門禁碼", "门禁码", "認証コード", "確認コード", "인증번호",
        "인증 코드",
    ),
    "token": ("密钥", "密鑰", "令牌", "トークン", "apiキー", "秘密鍵", "アクセスキー", "api 키", "토큰"),
}  # fmt: skip
#: Chinese, Japanese and Korean have no blank between the word and its value.
DENSE = Vocabulary(
    _WORDS_WITHOUT_BLANKS,
    after=r"[^\x21-\x7e\n。！？]{0,16}?(?:是|为|為|设为|：|は|が|を|に|는|은|「|『|“|\s|(?=[:=\"'`])|(?<=码)|(?<=碼)|(?<=ド)|(?<=号))[:=\s\"'`「『“]{0,4}"
    r"(?P<value>[\x21-\x7e]{4,200}+)",
)  # fmt: skip

DENSE_WORDS = Vocabulary(_WORDS_WITHOUT_BLANKS)

#: "log in as ada / …", "creds: ada:…".
LOGINS = Vocabulary(
    {
        "login": (
            "cred(?:ential)?s?", "log[ -]?in", "sign[ -]?in", "logged in", "username", "user", "wifi", "wi-fi", "wlan", "basic auth",
            "accedi", "accesso", "accede", "acceso", "connexion", "anmeldung", "acesso", "entra",
        ),
    },
    before=r"\b",
    at_word_start=True,
    after=r"\b(?:(?:\s[^\s/:]{1,30}){0,4}?\s{0,2}:?\s[\w.@+-]{2,60}\s?[/:,]\s?(?P<value>\S{5,100})"
    r"|\s(?:with|as|using)\s[\w.@+-]{2,60}\s(?:and|\+)\s(?P<other>\S{6,100}))",
)  # fmt: skip
