"""Standing preferences: how to work with the person. They do not resemble prompts, so no search finds them.

When a prompt asks for work or for an explanation, those that bear on it are recalled whatever they say; when it asks what
is known about the person, it asks for them. The tables of words are meant to be edited.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from clew.core.records import MemoryRecord
from clew.core.text import normalise, words
from clew.memory.evidence import count_shared

#: Memories about how the person is and wants to be answered bear on every task, those about code and its making on work.
ABOUT_THE_PERSON = ("user", "identity", "response_style")
ABOUT_THE_WORK = ("coding_pref", "workflow")

_WORK = frozenset(
    words("""
add append convert create debug delete develop edit fix generate implement improve
insert install integrate migrate optimise optimize refactor remove rename replace review rewrite translate write
aggiungi aggiungere aggiorna converti correggi crea creare cancella documenta elimina genera implementa installa migliora
modifica refattorizza rimuovi rinomina riscrivi rivedi scrivi scrivere sviluppa togli traduci
actualiza agrega añade añadir arregla arreglar borra convierte corrige crear desarrolla elimina escribe escribir genera
implementa instala mejora refactoriza renombra revisa traduce
ajoute ajouter améliore corrige corriger crée créer développe écris écrire génère implémente installe modifie refactorise
renomme répare supprime traduis vérifie
ändere aktualisiere behebe behebt benenne entferne entwickle ergänze erstelle erzeuge füge hinzufügen implementiere
installiere korrigiere lösche programmiere refaktoriere repariere schreib schreibe schreiben überarbeite überprüfe übersetze
verbessere
adiciona adicione adicionar apaga atualiza atualize conserta conserte corrija cria crie criar desenvolve escreva escreve
gera gere implemente instale melhora melhore refatora refatore remova renomeia renomeie revise traduz
""")
)
_EXPLANATION = frozenset(
    words("""
analyse analyze compare describe explain outline summarise summarize
analizza confronta descrivi riassumi spiega spiegami
analiza compara describe explica explícame resume
analyse compare décris explique expliquer résume
analysiere beschreibe erklär erkläre erklären vergleiche zusammenfassen
analisa analise compara descreve descreva explica explique resuma
""")
)
# These are nouns, or everyday verbs, as often as orders: an order starts with them.
_WORK_AT_THE_START = frozenset(
    words("""
adapt build change check clean code commit configure connect deploy design document drop extend extract finish format handle make merge move plan port prepare put release
rework run set simplify split start switch test update upgrade use wire
cambia controlla esegui fai lancia metti pianifica prepara prova sistema sposta testa usa
cambia ejecuta haz mueve planifica prepara prueba usa
change configure déplace fais lance planifie prépare teste utilise
baue führe mach mache plane prüfe teste verschiebe
altera executa execute faça faz mova planeja prepara prepare teste usa
""")
)
# What politely stands before an order.
_POLITE = frozenset(
    words("""
please can could would will you we i want need to let's let us now then and ok okay so hey hi hello just help me
per favore ora adesso allora ciao puoi potresti ora e por favor ahora puedes podrías s'il te plaît vous peux tu bitte jetzt kannst du
você pode agora
""")
)
_WORK_IN_PHRASES = re.compile(
    "写|编写|添加|增加|创建|新建|修复|修改|重构|实现|删除|审查|调试|测试|翻译|计划|更新|安装|生成|优化|部署"
    "|書いて|書き直|追加して|作成して|作って|修正して|直して|実装して|リファクタ|レビューして|削除して|デバッグ|テストして|計画して|翻訳して|更新して"
)
_EXPLANATION_IN_PHRASES = re.compile("解释|说明|总结|描述|比较|分析|説明して|要約して|まとめて|教えて|比較して")
_ABOUT_ME = re.compile(
    r"\b(?:my (?:\w+ )?preferences?|(?:know|remember|stored?|saved?|learn(?:ed|t)?) (?:\w+ )?(?:about|of) me"
    r"|mie preferenze|(?:sai|ricordi) (?:\w+ )?(?:su|di) me|mis preferencias|(?:sabes|recuerdas) (?:\w+ )?(?:de|sobre) mí"
    r"|mes préférences|(?:sais|souviens)(?:-tu)? (?:\w+ )?(?:de|sur) moi|meine[nr]? (?:vorlieben|präferenzen)"
    r"|(?:weißt|weisst) (?:\w+ )*über mich|minhas preferências|(?:sabe|lembra) (?:\w+ )?(?:de|sobre) mim)\b"
    r"|我的(?:偏好|喜好|习惯)|关于我|了解我|私の(?:好み|設定)|私について",
    re.IGNORECASE,
)


def asks_about_the_person(query: str) -> bool:
    """Whether a prompt asks what is known about the person who writes it."""
    return _ABOUT_ME.search(normalise(query)) is not None


def categories_for(query: str) -> tuple[str, ...]:
    """The categories of standing preferences that bear on a prompt; none for small talk and questions about the world."""
    asked = words(query)
    if asks_about_the_person(query) or not _WORK.isdisjoint(asked) or _WORK_IN_PHRASES.search(query):
        return ABOUT_THE_PERSON + ABOUT_THE_WORK
    if next((word for word in asked if word not in _POLITE), "") in _WORK_AT_THE_START:
        return ABOUT_THE_PERSON + ABOUT_THE_WORK
    if not _EXPLANATION.isdisjoint(asked) or _EXPLANATION_IN_PHRASES.search(query):
        return ABOUT_THE_PERSON
    return ()


def rank_standing(memories: Sequence[MemoryRecord], query: str) -> list[MemoryRecord]:
    """Those that share most words with the prompt first; of equal ones the most lately confirmed."""
    asked = words(query)
    return sorted(
        memories,
        key=lambda memory: (
            -count_shared(asked, memory.text),
            -max(memory.updated_at_ms, memory.created_at_ms),
            -memory.row,
        ),
    )
