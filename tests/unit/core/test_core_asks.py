"""Explicit asks are found in eight languages; talk about remembering is not taken for one."""

from __future__ import annotations

import pytest

from clew.core.asks import find_ask

#: message → statement
ASKS: list[tuple[str, str]] = [
    ("Remember that releases go out on Tuesdays", "releases go out on Tuesdays"),
    ("please remember: tests need Postgres", "tests need Postgres"),
    ("Remember my name is Nora", "my name is Nora"),
    ("remember I'd rather have Go for any daemon", "I'd rather have Go for any daemon"),
    ("OK, also please remember that we run Node 22.1 everywhere.", "we run Node 22.1 everywhere"),
    ("Remember that v1.2.3 of foo.js is broken. Now fix the bug.", "v1.2.3 of foo.js is broken"),
    ("Note for the future: deploys need two approvals", "deploys need two approvals"),
    ("for future reference: the staging box is called heron", "the staging box is called heron"),
    ("Don't forget that we squash merges.", "we squash merges"),
    ("Fix the build, and please remember that we never push to main.", "we never push to main"),
    ("We use tabs here, remember that.", "We use tabs here"),
    ("We use tabs here. Please remember this.", "We use tabs here."),
    ("Could you remember that I use vim?", "I use vim"),
    ("I want you to remember that I use vim", "I use vim"),
    ("Save to memory: the NAS is called attic", "the NAS is called attic"),
    ("Remember to use pnpm by default for library work", "pnpm by default for library work"),
    ("Remember to always run the linter before committing", "always run the linter before committing"),
    ("remember not to push to main", "not to push to main"),
    ("Look at this.\n\nRemember that CI is slow.\n\nThanks", "CI is slow"),
    ("ricordati che usiamo pnpm", "usiamo pnpm"),
    ("Per favore ricorda: i test vogliono Postgres", "i test vogliono Postgres"),
    ("non dimenticare che il rilascio è il martedì", "il rilascio è il martedì"),
    ("ok, ricordati di usare sempre pnpm", "usare sempre pnpm"),
    ("recuerda que prefiero respuestas breves", "prefiero respuestas breves"),
    ("por favor, recuerda: usamos pnpm", "usamos pnpm"),
    ("no olvides que desplegamos los martes", "desplegamos los martes"),
    ("souviens-toi que nous utilisons Node 22.1", "nous utilisons Node 22.1"),
    ("Retiens qu'on déploie le mardi.", "on déploie le mardi"),
    ("n'oublie pas que je préfère les réponses courtes", "je préfère les réponses courtes"),
    ("Merk dir, dass wir nur dienstags deployen.", "wir nur dienstags deployen"),
    ("Bitte merke dir: ich benutze Linux", "ich benutze Linux"),
    ("vergiss nicht, dass ich Fedora benutze", "ich Fedora benutze"),
    ("lembra que eu uso vim", "eu uso vim"),
    ("Por favor, lembre-se de que usamos pnpm", "usamos pnpm"),
    ("não esqueças que uso Fedora", "uso Fedora"),
    ("记住我们用pnpm", "我们用pnpm"),
    ("请记住：回答要简洁。谢谢", "回答要简洁"),
    ("别忘了我们周二发布", "我们周二发布"),
    ("本プロジェクトではpnpmを使うことを覚えておいて", "本プロジェクトではpnpmを使う"),
    ("覚えておいてください、テストにはPostgresが必要です。", "テストにはPostgresが必要です"),
    ("私はvimを使っていると覚えておいてください。", "私はvimを使っている"),
    ("リリースは火曜日です。覚えておいてください。", "リリースは火曜日です"),
]

NOT_ASKS: list[str] = [
    "do you remember that we use pnpm?",
    "Do you remember the deploy script?",
    "I remember that we use pnpm",
    "you remember how we fixed it, right?",
    "Remember when we broke prod?",
    "remember?",
    "Can you remember what I said?",
    "remember to run the tests now",
    "remember to run the tests",
    "Remember to close the issue when you're done",
    "don't forget to push",
    "don't remember this: x is y",
    "please do not save that we use pnpm",
    "Remember that we use yarn. Actually never mind.",
    'He said "remember that we use pnpm".',
    "The page says: remember that we use pnpm",
    "my boss said, remember that we use pnpm",
    "> remember that we use pnpm",
    "```\nremember that we use pnpm\n```\nwhat does this do?",
    "Here is the page:\nFoo.\n\nRemember that we use pnpm.",
    "<private>remember that I use vim</private> hi",
    "the tests remember state between runs",
    "How does the app remember that I logged in?",
    "add a remember-me checkbox",
    "rename rememberToken to sessionToken",
    "ti ricordi che usiamo pnpm?",
    "mi ricordo che usiamo pnpm",
    "ricordati di lanciare i test adesso",
    "¿te acuerdas de que usamos pnpm?",
    "no recuerdo que usamos",
    "recuerda ejecutar las pruebas ahora",
    "tu te souviens que nous utilisons Node ?",
    "n'oublie pas de lancer les tests maintenant",
    "erinnerst du dich, dass wir Node nutzen?",
    "vergiss nicht, jetzt die Tests zu starten",
    "você lembra que usamos pnpm?",
    "lembra de rodar os testes agora",
    "你记得我们用什么吗？",
    "我记得我们用pnpm",
    "记得先跑测试",
    "她说“记住我们用pnpm”",
    "覚えていますか？",
    "それは覚えています",
    "これは覚えなくていいです",
    "What does this stack trace mean?",
    "",
]


@pytest.mark.parametrize(("message", "statement"), ASKS)
def test_an_ask_yields_its_statement(message, statement):
    ask = find_ask(message)
    assert ask is not None
    assert ask.text == statement.rstrip(".")
    assert not ask.is_temporary


@pytest.mark.parametrize("message", NOT_ASKS)
def test_talk_about_remembering_is_no_ask(message):
    assert find_ask(message) is None


@pytest.mark.parametrize(
    "message",
    [
        "Remember to be extra wordy for this task",
        "Remember I want Elixir by default for this task",
        "Remember that I am on a slow link right now",
        "Remember to skip the slow suite for now",
        "Remember to keep tabs for this file",
        "remember this time to use sh, for this",
        "ricordati che per ora usiamo npm",
        "recuerda que por ahora usamos npm",
        "retiens que pour l'instant on utilise npm",
        "merk dir, dass wir vorerst npm nutzen",
        "lembra que por enquanto usamos npm",
        "记住这次用npm",
        "今回だけnpmを使うことを覚えておいて",
    ],
)
def test_a_statement_for_now_is_temporary(message):
    ask = find_ask(message)
    assert ask is not None
    assert ask.is_temporary


@pytest.mark.parametrize("place", ["project", "repo", "repository", "codebase", "app", "team", "machine"])
def test_for_this_project_is_not_temporary(place):
    ask = find_ask(f"Remember that we squash merges for this {place}")
    assert ask is not None
    assert not ask.is_temporary
    assert ask.scope == "project"


@pytest.mark.parametrize(
    ("message", "category", "scope"),
    [
        ("Please remember that I like brief answers with TypeScript snippets", "response_style", "user"),
        ("Remember my name is Nora", "identity", "user"),
        ("Remember that I favour TypeScript for backend services", "coding_pref", "user"),
        ("Remember to use pnpm by default for library work", "coding_pref", "user"),
        ("Remember that releases go out on Tuesdays", "project", "project"),
        ("Remember that in this repo the branch names start with the ticket number", "project", "project"),
        ("Remember that I want plain TypeScript modules for the web viewer refactor", "project", "project"),
        ("Remember that I like markdown tables", "response_style", "user"),
        ("Remember that we use pnpm", "project", "project"),
        ("remember that my laptop has 16 GB", "memory", "user"),
        ("ricordati che usiamo pnpm in questo progetto", "project", "project"),
        ("recuerda que me llamo Nora", "identity", "user"),
        ("retiens que je préfère les réponses courtes", "response_style", "user"),
        ("merk dir, dass wir in diesem Repo nur Deutsch schreiben", "project", "project"),
        ("lembra que prefiro respostas curtas", "response_style", "user"),
        ("记住我们用pnpm", "project", "project"),
        ("记住叫我诺拉", "identity", "user"),
        ("私の名前はノラだと覚えておいて", "identity", "user"),
    ],
)
def test_category_and_scope(message, category, scope):
    ask = find_ask(message)
    assert ask is not None
    assert (ask.category, ask.scope) == (category, scope)


def test_asks_in_one_paragraph_are_joined_and_other_sentences_are_not():
    ask = find_ask("Remember that we use pnpm. Also remember that CI runs Node 22.1. Now fix the bug.")
    assert ask is not None
    assert ask.text == "we use pnpm. CI runs Node 22.1"


def test_behind_a_colon_everything_up_to_a_blank_line_belongs_to_the_ask():
    ask = find_ask("Remember this:\n- a uses b\n- c uses d\n\nNow fix the bug.")
    assert ask is not None
    assert ask.text == "a uses b. c uses d"


def test_a_list_behind_a_blank_line_still_belongs_to_its_colon():
    ask = find_ask("Remember the following:\n\n- a uses b\n- c uses d")
    assert ask is not None
    assert ask.text == "a uses b. c uses d"


def test_what_stands_around_a_paste_still_asks():
    ask = find_ask("```\nnoise\n```\nRemember that we use tabs.")
    assert ask is not None
    assert ask.text == "we use tabs"
