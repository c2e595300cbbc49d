"""What a prompt and a memory have in common by their words: something telling, or only words that every task is full of.

Prompts of coding agents repeat a small vocabulary ("add a function", "fix this file"). How common a word is cannot be told
from a store of ten memories, so these words are listed. They are no stop words: two of them together still count.
"""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

from collections.abc import Sequence

from clew.core.text import words

#: Words of orders and of code in general, as `words` spells them; one alone in common tells nothing. Edit freely.
_EVERYDAY = """
add adds adding append change changes check clean convert copy create creates debug delete describe do document draw
edit explain extract find fix fixes generate get give help implement improve insert introduce investigate list load look
make makes merge move need needs open optimise optimize parse plan prepare print put read refactor remove rename replace
review rewrite run runs save search send set show simplify sort split start stop summarise summarize support switch take
tell test translate try turn update use used uses using want work works write writes
answer app application argument array bug case class code command component content data default difference directory
element error example fail failed failing fails feature field file files folder format function functions id idea input
issue item job key line lines link list lists message method mode module name names new number numbers object old option
order output page parameter part path problem program project question reason request result row rule screen script
section server service size snippet statement step string table task text thing things time title tool type user
value variable version view way word words world
always bad better big correct current each easy every fast first good last local long main more need never next only
other please quick same second short simple slow small three time today two wrong
aggiungi aggiungere cambia controlla correggi crea cancella esegui fai funzione classe codice errore file modifica nome
nuovo nuova prova riga rinomina riscrivi rivedi scrivi spiega spiegami togli usa usare testo favore progetto
agrega añade arregla cambia código clase corrige crea ejecuta elimina error escribe explica explícame favor fichero
archivo función haz línea nombre nueva nuevo prueba quita revisa usa usar texto proyecto
ajoute change classe code corrige crée écris erreur explique fais fichier fonction ligne modifie nom nouveau nouvelle
projet supprime texte utilise utiliser vérifie plaît
ändere beheb behebe benenne datei entferne erkläre erklär erstelle fehler füge funktion hinzu klasse lösche mach methode
neue neuen neuer prüfe schreib schreibe verwende zeile zeige projekt
adiciona adicione apaga arquivo classe código corrige corrija cria crie escreva escreve explica explique erro execute
faça função ficheiro linha mostre muda novo nova projeto remove usa usar texto
函数 解释 释一 一下 修复 错误 文件 代码 添加 写一 一个 请帮 帮我 创建 这个 删除 修改 使用
请解释这段代码 帮我写一个 修复这个错误
関数 説明 明し して くだ ださ さい 修正 追加 作成 コード ード ファ ァイ イル エラ ラー 書い いて てく この 変更 削除 使っ 説明してください 書いてください 追加してください 修正して 作成して 書いて を説 を書
добавь добавить файл функция функцию исправь код напиши объясни удали ошибка ошибку новый создай
"""
EVERYDAY = frozenset(words(_EVERYDAY))

SMALL = frozenset(
    words("""
a about above after again all also am an and any are as at be because been before being below between both but by can did do
does don during for from had has have he her here him his how i if in into is isn it its just let like ll me my no not of off on
once or our out over own re s she should so some such t than that the their them then there these they this those through to
too under until up us ve very was we were what when where which while who why will with without would you your please
che con del della dei di da dal il lo la le gli un una uno non si sono anche nel nella al ed questo questa ho hai mi ti più ma
tra è e o in per su come quale quando perché cosa ogni
el los las unos que por para como más pero sus este esta esto está no se les nos me tu te ya muy en de y cuál qué
les une des et ou qui dans sur avec ce cet cette ces est sont mais pas ne nous vous je elle mon ma mes sa ses au aux l qu d
der das den dem des die ein eine einen einem einer und oder nicht mit von zu am ist sind auch auf für ich sie wir sich als
wie bei nach aus dass wenn aber nur man werden wird was
uma uns que com do da dos das mais mas seu sua isto são foi não na nos nas ao à em meu um
и в не на с что как для это по из или у к о но так же бы если только
的 了 是 在 し た に を は が
""")
)

#: Other words for the same thing, which an index of words and their stems does not bring together. Edit freely.
_PACKAGES = "package manager npm pnpm yarn pip uv poetry cargo"
ALSO = {
    "auth": "authentication",
    "config": "configuration",
    "configuration": "config",
    "database": "db",
    "db": "database",
    "deploy": "deployment",
    "deployment": "deploy",
    "deployments": "deploy",
    "dockerfile": "docker image",
    "docs": "documentation",
    "documentation": "docs",
    "e2e": "end-to-end",
    "env": "environment",
    "js": "javascript",
    "k8s": "kubernetes",
    "kubernetes": "k8s",
    "postgres": "postgresql",
    "postgresql": "postgres",
    "pr": "pull request",
    "repo": "repository",
    "repository": "repo",
    "ts": "typescript",
}
_DEPENDENCIES = """dependency dependencies dipendenza dipendenze dependencia dependencias dépendance dépendances abhängigkeit
abhängigkeiten dependência dependências 依赖 依存"""
ALSO.update(dict.fromkeys(_DEPENDENCIES.split(), _PACKAGES))

_STEM_CHARS = 4
_MAX_ENDING_CHARS = 3
#: So many everyday words together are a sentence in common; pairs of characters overlap, so they do not count.
_ENOUGH_EVERYDAY = 3
_PAIR_CHARS = 2


def other_words(asked: Sequence[str]) -> tuple[str, ...]:
    """Other words for those asked, in their order, without those that were asked themselves."""
    found = (word for one in asked for word in ALSO.get(one, "").split())
    return tuple(dict.fromkeys(word for word in found if word not in asked))


def shares_only_everyday_words(asked: Sequence[str], text: str) -> bool:
    """Whether what a prompt has in common with a text by its words is there, but tells nothing.

    False when they have no word in common: then the text was found by its meaning.

    Args:
        asked: the words of the prompt, as `clew.core.text.words` spells them.
    """
    shared = _shared(asked, text)
    if any(_is_telling(word) for word in shared):
        return False
    return bool(shared) and sum(len(word) > _PAIR_CHARS for word in shared) < _ENOUGH_EVERYDAY


def count_shared(asked: Sequence[str], text: str) -> int:
    """How many telling words a prompt has in common with a text."""
    return sum(_is_telling(word) for word in _shared(asked, text))


def _shared(asked: Sequence[str], text: str) -> set[str]:
    told = {word for word in words(text) if word not in SMALL}
    return {one for one in asked if one not in SMALL and any(_is_same_word(one, other) for other in told)}


def _is_telling(word: str) -> bool:
    return word not in EVERYDAY and not (len(word) <= _PAIR_CHARS and word.isdecimal())


def _is_same_word(one: str, other: str) -> bool:
    """Equal, or alike up to an ending of a few letters (worker, workers; migration, migrate)."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < _STEM_CHARS or len(long) - len(short) > _MAX_ENDING_CHARS or not long.isalpha():
        return False
    return long.startswith(short[: max(_STEM_CHARS, len(short) - 2)])
