"""A wish not to be remembered is understood in eight languages; talk about one's own memory or about files is none."""

from __future__ import annotations

import pytest

from clew.core.asks import find_ask
from clew.core.opt_outs import asks_not_to_remember

OPT_OUTS: list[str] = [
    # English
    "don't remember this: my cat is called Miau",
    "Do not remember that.",
    "My cat is called Miau. Please don't save that.",
    "my cat is called Miau, please dont save this",
    "my cat is called Miau (don't remember this)",
    "My cat is called Miau - don't store that",
    "My cat is called Miau but don't remember it",
    "My cat’s called Miau; don’t memorise that, ok?",
    "Please don't remember my address: 1 Elm Street",
    "please do not remember where I live, it's Elm Street",
    "I don't want you to remember that I have a cat",
    "I'd rather you didn't save this.",
    "You don't need to remember this, I use vim today",
    "I use vim at home, no need to remember that",
    "Could you please not save this?",
    "Never remember this: I prefer tabs",
    "forget what I just said",
    "Forget everything I told you about my cat.",
    "please forget that I mentioned my cat",
    "I prefer tabs. Actually, forget I said that.",
    "I prefer tabs. Forget that.",
    "you can forget what I said about tabs",
    "Off the record: I prefer tabs",
    "Keep this out of your memory: I prefer tabs",
    "Don't add this to your memory: I prefer tabs",
    "don't make a note of that",
    "This should not be remembered: I prefer tabs.",
    "I prefer tabs.\nDon't save this.",
    "When I am at home I use vim. Please don't save that.",
    "I told you, don't save that. I prefer tabs.",
    "Remember that we use yarn. Actually never mind.",
    # Italian
    "non ricordarlo",
    "Il mio gatto si chiama Miau, non ricordarlo.",
    "non ricordare questo: il mio gatto si chiama Miau",
    "Per favore non salvarlo, il mio gatto si chiama Miau.",
    "non memorizzare questa cosa",
    "non te lo segnare",
    "Non voglio che tu ricordi questo",
    "non c'è bisogno di ricordarlo",
    "dimentica quello che ho appena detto",
    "Per favore, dimenticalo.",
    # Spanish
    "no lo guardes",
    "Mi gato se llama Miau, por favor no lo guardes.",
    "no recuerdes esto: mi gato se llama Miau",
    "no guardes esto",
    "no lo memorices, por favor",
    "No quiero que recuerdes esto",
    "no hace falta que lo recuerdes",
    "olvida lo que acabo de decir",
    "olvídate de lo que dije",
    # French
    "ne retiens pas ça",
    "Mon chat s'appelle Miau, ne le retiens pas.",
    "s'il te plaît, n'enregistre pas ça",
    "ne mémorise pas ceci : mon chat s'appelle Miau",
    "retiens pas ça stp",
    "ne t'en souviens pas",
    "Je ne veux pas que tu retiennes ça",
    "pas besoin de retenir ça",
    "oublie ce que je viens de dire",
    "oublie ce que j’ai dit",
    # German
    "merk dir das nicht",
    "Meine Katze heißt Miau, merk dir das bitte nicht.",
    "Bitte nicht merken: meine Katze heißt Miau",
    "bitte speichere das nicht",
    "das bitte nicht speichern",
    "Merke dir nicht, dass ich Tabs mag",
    "Du musst dir das nicht merken: ich mag Tabs",
    "Ich möchte nicht, dass du dir das merkst",
    "vergiss, was ich gerade gesagt habe",
    "vergiss das bitte wieder",
    # Portuguese
    "não guarde isso",
    "Meu gato se chama Miau, não guarde isso.",
    "não se lembre disso, por favor",
    "não lembre disto: meu gato se chama Miau",
    "por favor, não memorize isso",
    "não quero que você guarde isso",
    "não precisa lembrar disso",
    "esqueça o que eu disse",
    "esquece o que acabei de dizer",
    # Chinese
    "不要记住",
    "不要记住这个：我的猫叫Miau",
    "我的猫叫Miau，请不要记住。",
    "我的猫叫Miau，别记",
    "这个不用记住",
    "请不要保存这个",
    "别把这个记下来",
    "忘了我刚才说的",
    "请忘掉刚才的话",
    # Japanese
    "覚えないで",
    "これは覚えないでください：猫の名前はミアウです",
    "猫の名前はミアウです。覚えないでね。",
    "これは覚えなくていいです",
    "これは保存しないでください",
    "記憶しないでください",
    "さっき言ったことは忘れてください",
    "今のは忘れて",
]

NO_OPT_OUTS: list[str] = [
    "",
    "I prefer tabs.",
    "don't forget that we deploy on Tuesdays",
    "Don't forget this: we squash merges",
    "never forget that we squash merges",
    "don't remember where I put it",
    "Don't remember what I called the branch, maybe heron.",
    "don't remember if we use tabs",
    "I don't remember that",
    "I don't remember this; we use pnpm I think.",
    "I do not remember it.",
    "We don't save that anywhere.",
    "they don't store it",
    "why don't you remember this?",
    "Don't you remember that?",
    "I forget what I said",
    "I always forget that.",
    "Don't save this file to disk",
    "Don't store it in Redux, use a context.",
    "please don't save the form when it is invalid",
    "If the form is invalid, don't save it.",
    "When a test fails, please don't store that.",
    "Don't remember to run the tests? Use the hook.",
    "never store passwords in memory",
    "don't keep it in memory, stream it",
    'He said "don\'t save that".',
    "the button 'don't remember this' is too small",
    "rename `don't save this` to skip",
    "The page says: don't remember this",
    "> please don't save that\nWhy does it say so?",
    "```\ndon't remember this\n```\nwhat does this do?",
    "Never mind, I prefer tabs.",
    "add a do-not-remember-me checkbox",
    "Forget that approach, use pnpm.",
    "We must not forget what I said about tabs.",
    # Italian
    "non ricordo dove l'ho messo",
    "non dimenticare che usiamo pnpm",
    "non dimenticarlo",
    "non riesco a ricordarlo",
    "non salvare il file su disco",
    "Se il modulo non è valido, non salvarlo.",
    "ho dimenticato quello che ho detto",
    # Spanish
    "no recuerdo dónde lo puse",
    "no olvides que usamos pnpm",
    "no lo olvides",
    "no lo recuerdo",
    "no guardes el archivo en disco",
    "Si el formulario no es válido, no lo guardes.",
    # French
    "je ne me souviens pas où je l'ai mis",
    "n'oublie pas que nous utilisons pnpm",
    "n'oublie pas ça",
    "je ne retiens pas ça",
    "n'enregistre pas le fichier sur le disque",
    "Si le formulaire est invalide, ne l'enregistre pas.",
    # German
    "ich erinnere mich nicht, wo ich es hingelegt habe",
    "vergiss nicht, dass wir pnpm benutzen",
    "vergiss das nicht",
    "Ich kann mir das nicht merken",
    "Merk dir, dass wir das nicht speichern",
    "Speichere die Datei nicht auf der Platte",
    "Wenn das Formular ungültig ist, speichere es nicht.",
    # Portuguese
    "não lembro onde coloquei",
    "não esqueça que usamos pnpm",
    "não se esqueça disso",
    "não me lembro disso",
    "não salve o arquivo no disco",
    "Se o formulário for inválido, não o salve.",
    # Chinese
    "我不记得放在哪里了",
    "不要忘记我们用pnpm",
    "别忘了我们周二发布",
    "我忘了我刚才说的",
    "不要忘了我刚才说的",
    "不要保存这个文件",
    "不要记录日志",
    "我记不住这个",
    # Japanese
    "どこに置いたか覚えていない",
    "忘れないでください",
    "私たちはpnpmを使うことを忘れないで",
    "さっき言ったことは忘れてしまった",
    "ファイルを保存しないでください",
    "ログを記録しないでください",
]


@pytest.mark.parametrize("message", OPT_OUTS)
def test_an_opt_out_is_understood_and_is_no_ask(message):
    assert asks_not_to_remember(message)
    assert asks_not_to_remember(message.upper())
    assert find_ask(message) is None


@pytest.mark.parametrize("message", NO_OPT_OUTS)
def test_other_talk_is_no_opt_out(message):
    assert not asks_not_to_remember(message)


@pytest.mark.parametrize(
    "message", ["don't forget that we squash merges", "vergiss nicht, dass wir pnpm benutzen", "别忘了我们周二发布"]
)
def test_not_to_forget_stays_an_ask(message):
    assert find_ask(message) is not None


@pytest.mark.parametrize("unit", ["don't ", "please ", "forget ", "no lo ", "不要", "、", "'", '"', "merk dir das "])
def test_long_lines_of_beginnings_are_gone_through_in_one_pass(unit):
    line = unit * (1_900 // len(unit)) + "x"
    assert not asks_not_to_remember("\n".join([line] * 100))
