"""The built-in judge on sentences that it was not trained on."""

from __future__ import annotations

import hashlib
import math

import pytest

from clew.core.decisions import ChoiceAnswer, NoulAnswer, Question, ScoreAnswer
from clew.core.records import State
from clew.decide.builtin import BuiltinJudge
from clew.decide.questionnaire import load_questionnaire

QUESTIONS = load_questionnaire(None)


@pytest.fixture(scope="module")
def judge() -> BuiltinJudge:
    return BuiltinJudge()


def noul(judge: BuiltinJudge, id_: str, user: str, assistant: str | None = None) -> float:
    answer = judge.decide(State(user=user, assistant=assistant), QUESTIONS).answers[id_]
    assert isinstance(answer, NoulAnswer)
    return answer.probability


LASTING = [
    "I always want type hints on public functions, please never leave them out.",
    "From now on answer me in Spanish, also in code reviews.",
    "Our API never returns null, we always use empty lists instead.",
    "D'ora in poi usa sempre pnpm in questo progetto, mai npm.",
    "Preferisco risposte brevi, senza introduzioni.",
    "A partir de ahora usa siempre comillas simples, nunca dobles.",
    "Prefiero que me expliques primero el plan, siempre.",
    "Désormais, écris toujours les messages de commit en anglais.",
    "Je préfère toujours des fonctions courtes, garde ça en tête.",
    "Ab jetzt bitte immer zuerst die Tests schreiben, nie danach.",
    "In unserem Projekt verwenden wir grundsätzlich keine ORMs.",
    "De agora em diante escreva sempre os comentários em português.",
    "Prefiro sempre commits pequenos, nunca junte duas coisas.",
    "以后请始终用中文写注释,不要用英文。",
    "我们的项目统一用 pnpm,不要再用 npm。",
    "これからは必ず日本語でコメントを書いてください。",
    "このプロジェクトでは常にpnpmを使います。npmは禁止です。",
]
CHATTER = [
    "thanks, that's it",
    "can you rename this variable to count?",
    "why is the spinner still there?",
    "grazie, perfetto",
    "aggiungi un bottone qui sotto",
    "gracias, muy bien",
    "¿por qué falla este test?",
    "merci, super",
    "ajoute une ligne dans ce tableau",
    "danke, sieht gut aus",
    "warum ist die Seite leer?",
    "obrigado, ficou bom",
    "corrige o alinhamento deste botão",
    "谢谢,很好",
    "帮我看看为什么报错",
    "ありがとうございます",
    "このボタンの色を変えてください",
]
TEMPORARY = [
    "just for this session, use the staging database",
    "only for today skip the linter",
    "solo per questa sessione usa il database di prova",
    "solo por hoy usa la rama de pruebas",
    "pour cette session, utilise la base de test, juste aujourd'hui",
    "nur heute bitte ohne Linter arbeiten",
    "só por hoje usa o banco de testes",
    "这次先用测试数据库,仅此一次",
    "今回だけテスト用のデータベースを使ってください",
]
SECRETS = [
    "log in with user demo and password Gravel-Kite_58",
    "la password del server è Susina_Vento82",
    "la contraseña es Nogal+Rio77",
    "le mot de passe est Orage#Lune24",
    "das Passwort ist Kiesel!Wind63",
    "a senha é Jabuti_Rio91",
    "密码是 Hai8Lang#52",
    "パスワードは Umi-kaze52 です",
    "use this one: AKIAQ3EGRZTUV5W7XYAB and tell me if it works",
]
POINTERS = [
    "the database password is in .env, never print it",
    "we keep all API keys in the vault, not in the repository",
    "la password sta nel vault del team",
    "das Passwort steht in der Umgebungsvariable DB_PASSWORD",
    "密码保存在环境变量里",
]
LESSONS = [
    "root cause: the cron job ran in local time, so it was skipped when the clocks changed",
    "it turned out that the cache was the problem, restarting did not help at all",
    "la causa era il fuso orario del server, abbiamo perso un giorno",
    "la causa era la versión de node, por eso se rompió",
    "le problème venait du cache, redémarrer n'a servi à rien",
    "die Ursache war der Proxy, das Neustarten hat nichts gebracht",
    "a causa era o cache do proxy, não adianta reiniciar",
    "原因是缓存没有清,重启根本没用",
    "原因はキャッシュでした。再起動しても無駄でした",
]


@pytest.mark.parametrize("user", LASTING)
def test_a_lasting_preference_or_rule_is_durable(judge, user) -> None:
    assert noul(judge, "is_durable", user) >= 0.5


@pytest.mark.parametrize("user", CHATTER)
def test_chatter_and_tasks_are_not_durable(judge, user) -> None:
    assert noul(judge, "is_durable", user) < 0.5


#: Not seen as temporary, though not proposed either: the rows hold few temporary orders in Chinese.
MISSED = {"这次先用测试数据库,仅此一次"}


@pytest.mark.parametrize(
    "user", [pytest.param(user, marks=pytest.mark.xfail(strict=True)) if user in MISSED else user for user in TEMPORARY]
)
def test_an_instruction_with_an_end_is_session_scoped(judge, user) -> None:
    assert noul(judge, "is_session_scoped", user) >= 0.5


@pytest.mark.parametrize("user", TEMPORARY)
def test_an_instruction_with_an_end_is_never_kept(judge, user) -> None:
    assert noul(judge, "is_durable", user) < 0.5


@pytest.mark.parametrize("user", LASTING)
def test_a_lasting_statement_is_not_vetoed(judge, user) -> None:
    assert noul(judge, "is_session_scoped", user) < 0.8
    assert noul(judge, "has_secret", user) < 0.5


@pytest.mark.parametrize("user", SECRETS)
def test_the_value_of_a_secret_is_vetoed(judge, user) -> None:
    assert noul(judge, "has_secret", user) >= 0.5


def test_a_secret_in_a_pasted_block_or_in_the_reply_is_seen(judge) -> None:
    assert noul(judge, "has_secret", "look at this\n```\nDB_PASSWORD=Gravel-Kite_58\n```") >= 0.5
    assert noul(judge, "has_secret", "what is it?", "The password is Gravel-Kite_58.") >= 0.5


@pytest.mark.parametrize("user", POINTERS)
def test_a_pointer_to_a_secret_is_not_vetoed(judge, user) -> None:
    assert noul(judge, "has_secret", user) < 0.5


@pytest.mark.parametrize("user", LESSONS)
def test_a_lesson_is_a_failure(judge, user) -> None:
    assert noul(judge, "is_failure", user) >= 0.5


@pytest.mark.parametrize("user", CHATTER)
def test_chatter_is_no_lesson(judge, user) -> None:
    assert noul(judge, "is_failure", user) < 0.5


@pytest.mark.parametrize("form", ["```\n{}\n```", "> {}"])
def test_a_rule_counts_when_typed_and_not_when_pasted(judge, form) -> None:
    rule = "From now on we always use tabs and never spaces, that's our rule."
    assert noul(judge, "is_durable", rule) >= 0.5
    assert noul(judge, "is_durable", form.format(rule)) < 0.5


def test_a_fact_in_a_long_message_is_highlighted(judge) -> None:
    rule = "From now on we never merge on Fridays, that's our rule."
    state = State(user=f"ok that worked. can you fix the typo in the title? {rule} why is the page so slow?")
    decision = judge.decide(state, QUESTIONS)
    assert decision.highlights[0] == rule


def test_answers_are_complete_consistent_and_named(judge) -> None:
    for user in (*LASTING, *CHATTER, ""):
        decision = judge.decide(State(user=user), QUESTIONS)
        assert list(decision.answers) == list(QUESTIONS)
        assert decision.model == judge.name == "clew-judge-encoder"
        assert decision.abstained == ()
        importance, target = decision.answers["importance"], decision.answers["target"]
        assert isinstance(importance, ScoreAnswer)
        assert isinstance(target, ChoiceAnswer)
        for answer in (importance, target):
            assert math.isclose(sum(answer.probabilities.values()), 1.0, abs_tol=1e-9)
            assert all(0 <= share <= 1 for share in answer.probabilities.values())
        assert target.probabilities[target.choice] == pytest.approx(max(target.probabilities.values()))
        expected = sum(int(level) * share for level, share in importance.probabilities.items())
        assert importance.score == pytest.approx(expected)


def test_a_question_without_a_head_is_answered_by_a_marked_prior(judge) -> None:
    strange = {
        "is_funny": Question(id="is_funny", type="noul", instructions="Is it funny?"),
        "importance": Question(id="importance", type="score", instructions="?", criteria={"0": "no", "1": "yes"}),
        "target": Question(id="target", type="choice", instructions="?", criteria={"none": None, "garden": None}),
        "is_durable": Question(id="is_durable", type="noul", instructions="Other words?"),
    }
    decision = judge.decide(State(user=LASTING[0]), strange)
    assert decision.abstained == ("is_funny", "importance", "target")
    assert decision.answers["is_funny"] == NoulAnswer(probability=0.5)
    assert decision.answers["is_durable"] == judge.decide(State(user=LASTING[0]), QUESTIONS).answers["is_durable"]


def test_the_same_state_gets_the_same_answers_from_a_new_judge(judge) -> None:
    state = State(user=LASTING[0], assistant="Understood.")
    assert judge.decide(state, QUESTIONS) == BuiltinJudge().decide(state, QUESTIONS)


def test_the_model_card_is_of_the_files_that_ship() -> None:
    from clew.decide.lexical.model import WEIGHTS_FILE
    from clew.models.manifest import load_manifest

    card = WEIGHTS_FILE.parents[1].joinpath("MODEL_CARD.md").read_text(encoding="utf-8")
    assert hashlib.sha256(WEIGHTS_FILE.read_bytes()).hexdigest() in card
    assert load_manifest().digests["judge.onnx"] in card


def test_redacted_secrets_are_not_taken_for_values(judge) -> None:
    assert noul(judge, "has_secret", "connect with password [redacted:password] please") < 0.5
