"""Credentials that give themselves away by their shape: vendor prefixes, key blocks, signed tokens.

Each kind names the literal that every match holds (its hint) and the pattern; where the pattern has a group `v`, only
that part is the secret. Patterns begin at a literal and end in one unbounded class at most, with nothing behind it that
could send the matcher back, so that the work grows with the text and not faster.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from clew.core.patterns import LoweredText, as_ascii

_MIN_RUN_CHARS = 12
_HEAD_CHARS = 3
_HEADED = re.compile(r"[A-Za-z0-9_-]{3,}")
_START = r"(?<![A-Za-z0-9_-])"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One shape. `hints`: a text without any of them cannot match. With `ignore_case`
    the pattern is written in lower case and sees lowered text."""

    name: str
    hints: tuple[str, ...]
    pattern: str
    ignore_case: bool = False
    #: Whether a match may be short or hold blanks. All others are one run of at least `_MIN_RUN_CHARS` characters.
    is_run: bool = True
    #: Whether a match begins with a hint and no letter, digit, hyphen or underscore stands before it.
    stands_free: bool = False


def _prefixed(name: str, prefixes: str, body: str) -> Kind:
    """A token of the form prefix + body, standing free on its left."""
    hints = tuple(prefixes.split())
    alternatives = "|".join(re.escape(hint) for hint in hints)
    return Kind(name=name, hints=hints, pattern=f"{_START}(?:{alternatives}){body}", stands_free=True)


_WORDISH = r"[A-Za-z0-9_-]"
_ALNUM = r"[A-Za-z0-9]"

#: How base64 of a vendor's token or of a private key begins.
_ENCODED = tuple(
    b64encode(prefix)[: len(prefix) * 4 // 3].decode()
    for prefix in (
        b"ghp_", b"gho_", b"ghs_", b"github_pat_", b"glpat-", b"sk-ant-", b"sk-proj-", b"sk_live_", b"AKIA", b"xoxb-", b"xoxp-",
        b"npm_", b"hvs.", b"dckr_pat_",
        *(f"-----BEGIN {label}PRIVATE KEY".encode() for label in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ")),
    )
)  # fmt: skip

KINDS: tuple[Kind, ...] = (
    # Code hosting and package registries
    _prefixed("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_ALNUM}{{20,}}+"),
    _prefixed("github-fine-grained-token", "github_pat_", r"[A-Za-z0-9_]{20,}+"),
    _prefixed(
        "gitlab-token",
        "glpat- glptt- gldt- glrt- glcbt- glft- glsoat- glagent- gloas- glimt- glffct- GR1348941",
        r"[A-Za-z0-9_.-]{16,}+",
    ),
    _prefixed("bitbucket-token", "ATBB ATCTT3", r"[A-Za-z0-9_=-]{24,}+"),
    _prefixed("atlassian-token", "ATATT3", r"[A-Za-z0-9_=-]{40,}+"),
    _prefixed("npm-token", "npm_", rf"{_ALNUM}{{30,}}+"),
    _prefixed("pypi-token", "pypi-AgE", rf"{_WORDISH}{{20,}}+"),
    _prefixed("rubygems-token", "rubygems_", r"[0-9a-f]{40,}+"),
    _prefixed("docker-token", "dckr_pat_ dckr_oat_", rf"{_WORDISH}{{20,}}+"),
    _prefixed("crates-token", "cio", rf"{_ALNUM}{{32}}(?!{_ALNUM})"),
    _prefixed("sourcegraph-token", "sgp_", r"[A-Za-z0-9_]{32,}+"),
    _prefixed("artifactory-token", "AKCp cmVmdGtu", rf"{_ALNUM}{{40,}}+"),
    # Cloud providers
    _prefixed("aws-access-key-id", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Z0-9])"),
    _prefixed("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/=]{80,}+"),
    _prefixed("google-api-key", "AIza", rf"{_WORDISH}{{30,}}+"),
    _prefixed("google-oauth-token", "ya29.", rf"{_WORDISH}{{20,}}+"),
    _prefixed("google-client-secret", "GOCSPX-", rf"{_WORDISH}{{20,}}+"),
    _prefixed("google-refresh-token", "1//0", rf"{_WORDISH}{{30,}}+"),
    Kind(
        name="azure-storage-key",
        hints=("AccountKey=", "SharedAccessKey="),
        pattern=r"(?:AccountKey|SharedAccessKey)=(?P<v>[A-Za-z0-9+/]{30,}+={0,2})",
    ),
    Kind(name="azure-sas", hints=("sig=",), pattern=r"[?&;]sig=(?P<v>[A-Za-z0-9%+/_-]{30,}+=?)"),
    Kind(name="azure-client-secret", hints=("Q~",), pattern=rf"{_START}[\w.~-]{{2,4}}\dQ~[A-Za-z0-9_.~-]{{30,}}+"),
    _prefixed("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{40,}+"),
    _prefixed("heroku-token", "HRKU-", rf"{_WORDISH}{{20,}}+"),
    _prefixed("cloudflare-origin-key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}+"),
    _prefixed("cloudflare-token", "cfut_ cfat_ cfk_", rf"{_WORDISH}{{30,}}+"),
    _prefixed("fly-token", "fo1_ fm1_ fm2_ fm1r_", r"[A-Za-z0-9_+/=-]{40,}+"),
    _prefixed("netlify-token", "nfp_", rf"{_ALNUM}{{30,}}+"),
    _prefixed("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", rf"{_ALNUM}{{20,}}+"),
    _prefixed("render-token", "rnd_", rf"{_ALNUM}{{24,}}+"),
    _prefixed("supabase-token", "sbp_ sb_secret_", rf"{_WORDISH}{{20,}}+"),
    _prefixed("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.-]{30,}+"),
    _prefixed("databricks-token", "dapi", r"[0-9a-f]{32}(?:-\d)?(?![0-9a-f])"),
    _prefixed("tailscale-key", "tskey-", rf"(?:auth|api|client|scim|webhook)-{_WORDISH}{{16,}}+"),
    _prefixed("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9_.-]{30,}+"),
    _prefixed("pulumi-token", "pul-", r"[0-9a-f]{40}(?![0-9a-f])"),
    Kind(name="terraform-token", hints=(".atlasv1.",), pattern=rf"{_START}{_ALNUM}{{14}}\.atlasv1\.{_WORDISH}{{40,}}+"),
    _prefixed("vault-token", "hvs. hvb. hvr.", rf"{_WORDISH}{{20,}}+"),
    _prefixed("1password-token", "ops_eyJ", r"[A-Za-z0-9_=-]{40,}+"),
    # Models
    _prefixed("anthropic-key", "sk-ant-", rf"{_WORDISH}{{12,}}+"),
    _prefixed("openrouter-key", "sk-or-", rf"{_WORDISH}{{16,}}+"),
    _prefixed("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", rf"{_WORDISH}{{16,}}+"),
    Kind(
        name="secret-key",
        hints=("sk-",),
        pattern=rf"{_START}sk-(?=[A-Za-z_-]{{0,80}}\d)(?=[\d_-]{{0,80}}[A-Za-z])(?:{_WORDISH}{{20,}}+|{_ALNUM}{{9,19}}(?!{_WORDISH}))",
    ),
    _prefixed("huggingface-token", "hf_ api_org_", rf"{_ALNUM}{{20,}}+"),
    _prefixed("groq-key", "gsk_", rf"{_ALNUM}{{20,}}+"),
    _prefixed("perplexity-key", "pplx-", rf"{_ALNUM}{{30,}}+"),
    _prefixed("replicate-token", "r8_", rf"{_ALNUM}{{30,}}+"),
    _prefixed("xai-key", "xai-", rf"{_ALNUM}{{40,}}+"),
    _prefixed("langsmith-key", "lsv2_pt_ lsv2_sk_", r"[0-9a-f]{32}_[0-9a-f]{10}"),
    _prefixed("tavily-key", "tvly-", rf"{_WORDISH}{{20,}}+"),
    _prefixed("pinecone-key", "pcsk_", r"[A-Za-z0-9_]{30,}+"),
    # Chat, mail, telephony
    _prefixed(
        "slack-token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp-", r"[A-Za-z0-9.%+/-]{10,}+"
    ),
    Kind(
        name="discord-token",
        hints=(".",),
        pattern=r"[MNO](?<![A-Za-z0-9_-].)[A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+",
    ),
    Kind(name="telegram-token", hints=(":AA",), pattern=rf"(?<!\d)\d{{8,10}}:AA{_WORDISH}{{30,}}+"),
    _prefixed("twilio-key", "SK", r"[0-9a-f]{32}(?![0-9a-f])"),
    _prefixed("sendgrid-key", "SG.", rf"{_WORDISH}{{16,}}+\.{_WORDISH}{{16,}}+"),
    _prefixed("mailgun-key", "key-", r"[0-9a-f]{32}(?![0-9a-f])"),
    Kind(name="mailchimp-key", hints=("-us",), pattern=rf"{_START}[0-9a-f]{{32}}-us\d{{1,2}}(?!\d)"),
    _prefixed("brevo-key", "xkeysib- xsmtpsib-", r"[0-9a-f]{40,}+(?:-[A-Za-z0-9]{8,}+)?"),
    _prefixed("resend-key", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}+"),
    # Payments and shops
    _prefixed("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", rf"{_ALNUM}{{10,}}+"),
    _prefixed("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_", r"[0-9a-fA-F]{20,}+"),
    _prefixed("square-token", "sq0atp- sq0csp- sq0idp-", rf"{_WORDISH}{{20,}}+"),
    _prefixed("square-access-token", "EAAA", rf"{_WORDISH}{{56,}}+"),
    _prefixed("facebook-token", "EAACEdEose0cBA EAAB EAAG EAAC", rf"{_ALNUM}{{60,}}+"),
    _prefixed("braintree-token", "access_token$", r"(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    # Work tools
    _prefixed("notion-token", "ntn_", rf"{_ALNUM}{{20,}}+"),
    _prefixed("notion-secret", "secret_", rf"{_ALNUM}{{40,}}+"),
    _prefixed("linear-key", "lin_api_ lin_oauth_ lin_wh_", rf"{_ALNUM}{{20,}}+"),
    _prefixed("figma-token", "figd_ figo_ figu_ figdr_ figor_", rf"{_WORDISH}{{20,}}+"),
    _prefixed("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{40,}+"),
    _prefixed("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{30,}+"),
    _prefixed("contentful-token", "CFPAT-", rf"{_WORDISH}{{30,}}+"),
    _prefixed("dropbox-token", "sl.", rf"{_WORDISH}{{60,}}+"),
    # Watching
    _prefixed("newrelic-key", "NRAK- NRII- NRIQ- NRAA- NRRA- NRJS-", rf"{_WORDISH}{{16,}}+"),
    _prefixed("grafana-token", "glsa_ glc_", r"[A-Za-z0-9_+/=-]{24,}+"),
    _prefixed("sentry-token", "sntrys_ sntryu_ sntrya_ sntryi_", r"[A-Za-z0-9_+/=-]{24,}+"),
    Kind(
        name="sentry-dsn",
        hints=("@",),
        pattern=r"https?://[0-9a-f]{32}:(?P<v>[0-9a-f]{32})@[\w.-]{1,100}/\d{1,20}",
    ),
    _prefixed("dynatrace-token", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9]{20,}+\.[A-Z0-9]{40,}+"),
    _prefixed("datadog-key", "ddp_ ddapp_", rf"{_ALNUM}{{30,}}+"),
    Kind(name="okta-token", is_run=False, hints=("SSWS ",), pattern=rf"{_START}SSWS [A-Za-z0-9_-]{{30,}}+"),
    # Keys
    Kind(
        name="private-key",
        is_run=False,
        hints=("PRIVATE KEY",),
        pattern=r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<v>(?:(?!-----END)[^-]|-(?!----END))*+)",
    ),
    Kind(
        name="putty-private-key",
        is_run=False,
        hints=("Private-Lines:",),
        pattern=r"Private-Lines: \d{1,4}\s{1,4}(?P<v>(?:[A-Za-z0-9+/=]{1,80}\s?)++)",
    ),
    _prefixed("age-secret-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{40,}+"),
    _prefixed("jwt", "eyJ", rf"{_WORDISH}{{8,}}+\.{_WORDISH}{{8,}}+\.{_WORDISH}{{4,}}+(?:\.{_WORDISH}{{1,}}+){{0,2}}"),
    Kind(
        name="encoded-token",
        hints=_ENCODED,
        pattern=rf"(?<![A-Za-z0-9+/])(?:{'|'.join(_ENCODED)})[A-Za-z0-9+/]{{16,}}+={{0,2}}",
    ),
    # Addresses whose path is the secret
    Kind(
        name="slack-webhook",
        hints=("hooks.slack",),
        pattern=r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<v>[A-Za-z0-9/_+-]{20,}+)",
    ),
    Kind(
        name="discord-webhook",
        hints=("/api/webhooks/",),
        pattern=r"discord(?:app)?\.com/api/webhooks/\d{5,25}/(?P<v>[A-Za-z0-9_-]{20,}+)",
    ),
    Kind(
        name="teams-webhook",
        hints=("webhook",),
        pattern=r"(?:webhook\.office\.com/webhookb2|outlook\.office\.com/webhook)/(?P<v>[A-Za-z0-9@/_-]{20,}+)",
    ),
    Kind(
        name="zapier-webhook",
        hints=("hooks.zapier.com",),
        pattern=r"hooks\.zapier\.com/hooks/catch/(?P<v>\d{3,12}/[A-Za-z0-9]{5,}+)",
    ),
    Kind(
        name="ifttt-webhook",
        hints=("maker.ifttt.com",),
        pattern=r"maker\.ifttt\.com/trigger/[^/\s]{1,100}/(?:json/)?with/key/(?P<v>[A-Za-z0-9_-]{16,}+)",
    ),
    Kind(
        name="totp-seed",
        hints=("otpauth",),
        pattern=r"otpauth://[^\s\"']{0,300}?[?&]secret=(?P<v>[a-z2-7=]{8,}+)",
        ignore_case=True,
    ),
    # Headers
    Kind(
        name="bearer-token",
        is_run=False,
        hints=("bearer ",),
        pattern=r"(?:\bauthorization[\"']?\s?[:=]\s{0,3}[\"']?bearer\s{1,4}|\bbearer\s{1,4}(?=[a-z_.~+/=|-]{0,200}\d))"
        r"(?P<v>[a-z0-9_.~+/=|-]{6,}+)",
        ignore_case=True,
    ),
    Kind(
        name="basic-auth",
        is_run=False,
        hints=("basic ",),
        pattern=r"(?:\bauthorization[\"']?\s?[:=]\s{0,3}[\"']?basic\s{1,4}|\bbasic\s{1,4}(?=[a-z+/]{0,200}[\d=]))"
        r"(?P<v>[a-z0-9+/]{8,}+={0,2})",
        ignore_case=True,
    ),
    Kind(
        name="cookie",
        is_run=False,
        hints=("cookie:",),
        pattern=r"\b(?:set-)?cookie:\s{0,4}(?P<v>[^\s=;]{1,60}=[^\s;\"']{8,}(?:;\s{0,2}[^\s=;]{1,60}=[^\s;\"']{1,4000}){0,40})",
        ignore_case=True,
    ),
    # Files
    Kind(
        name="url-password",
        is_run=False,
        hints=("://",),
        pattern=r"\b[a-z][a-z0-9+.-]{1,24}://[^\s/:@\"'<>]{0,200}:(?P<v>[^\s/@\"'<>]{1,300})@(?=[\w.\[-])",
        ignore_case=True,
    ),
    Kind(name="url-token", hints=("://",), pattern=r"\bhttps?://(?P<v>[A-Za-z0-9_-]{20,200})@(?=[\w.-])"),
    Kind(
        name="netrc-password",
        is_run=False,
        hints=("login ",),
        pattern=r"\b(?:machine\s{1,4}\S{1,200}\s{1,9})?login\s{1,4}\S{1,200}\s{1,9}password\s{1,4}(?P<v>\S{1,300})",
    ),
    Kind(
        name="pgpass-password",
        is_run=False,
        hints=(":",),
        pattern=r"(?m)^[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,63}:[\w*-]{1,63}:(?P<v>\S{1,200})$",
    ),
    Kind(
        name="password-hash",
        hints=(":$",),
        pattern=r"(?<![\w$])[\w.-]{1,64}:(?P<v>\$(?:apr1|2[abxy]|5|6|y|argon2id?)\$[A-Za-z0-9./$=,+-]{16,}+)",
    ),
    Kind(
        name="kubeconfig-key",
        is_run=False,
        hints=("client-key-data:", "_authToken="),
        pattern=r"(?:client-key-data:\s{0,4}|_authToken=)(?P<v>[A-Za-z0-9+/=_.-]{16,}+)",
    ),
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def shaped_secrets(text: str, lowered: LoweredText) -> Iterator[tuple[str, int, int]]:
    """`(kind, start, end)` of every credential that its shape gives away; placeholders are still among them."""
    plain = as_ascii(text)
    # Ordinary words are shorter than any token, so that little is left to look for hints in.
    runs = " ".join([run for run in plain.split() if len(run) >= _MIN_RUN_CHARS])
    heads = {word[:_HEAD_CHARS] for word in _HEADED.findall(runs)}
    for kind in _kinds_left(heads):
        hinted = lowered.ascii if kind.ignore_case else runs if kind.is_run else plain
        if not any(hint in hinted for hint in kind.hints):
            continue
        for match in _compiled(kind.pattern).finditer(lowered.text if kind.ignore_case else text):
            start, end = match.span("v") if "v" in match.re.groupindex else match.span()
            yield kind.name, start, end


def _kinds_left(heads: set[str]) -> list[Kind]:
    """The kinds that the beginnings of long words do not rule out, in their order."""
    by_head, always = _filed()
    places = set(always).union(*(by_head[head] for head in by_head.keys() & heads))
    return [KINDS[place] for place in sorted(places)]


@cache
def _filed() -> tuple[dict[str, list[int]], list[int]]:
    """Places of kinds in KINDS by the beginnings of their hints; kinds that cannot be filed apart."""
    by_head: dict[str, list[int]] = {}
    always: list[int] = []
    for place, kind in enumerate(KINDS):
        heads = [hint[:_HEAD_CHARS] for hint in kind.hints]
        if kind.stands_free and all(map(_HEADED.fullmatch, heads)):
            for head in heads:
                by_head.setdefault(head, []).append(place)
        else:
            always.append(place)
    return by_head, always
