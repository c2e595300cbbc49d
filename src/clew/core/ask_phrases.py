"""The words of `clew.core.asks`, language by language: English, Italian, Spanish, French, German, Portuguese, Chinese,
Japanese.

Each opening matches at the start of a sentence, courtesy included; what follows it is what shall be remembered.
"""

# ruff: noqa: RUF001 - words and marks of many scripts

from __future__ import annotations

import re
from dataclasses import dataclass

from clew.core.patterns import LazyPattern


def _compile(source: str) -> LazyPattern:
    return LazyPattern(source, re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """How one language asks.

    Attributes:
        opening: an ask up to the statement.
        not_a_statement: what may follow the opening when nothing is asked: questions, recollections.
        task: a match at the rest says that an action is asked for ("to …", an infinitive).
    """

    opening: LazyPattern
    not_a_statement: LazyPattern
    task: LazyPattern


_EN_COURTESY = (
    r"(?:(?:please|pls|ok|okay|also|and|so|hey|hi|hello|btw|by the way|just|yes|great|thanks|thank you|oh|important|fyi"
    r"|one more thing|then|but|well|finally|lastly)\b[\s,:;.!—–-]{1,4}){0,4}"
    r"(?:(?:can|could|would|will) you\s(?:please\s)?(?:also\s)?|i(?:'d| would)? (?:want|need|like) you to\s"
    r"|you (?:should|must|need to|have to)\s|(?:make|be) sure (?:to|you)\s)?(?:please[\s,]{1,3}|always\s|also\s)?"
)
_EN = Phrases(
    opening=_compile(
        _EN_COURTESY + r"(?:(?:remember|memori[sz]e)\b(?:\s(?:this|the following|these|it))?"
        r"(?:\s(?:for|in) (?:the future|later|next time|future (?:sessions|reference)|good))?(?:\s?,?\s?that\b)?"
        r"|(?:do not|don['’]?t|never) (?:ever )?forget\b"
        r"(?:\s(?:that|this)\b|(?=\s?[:,—–])|(?=\s(?:we|i|i'm|our|my|it's|in this|for this|to|all|every)\b))"
        r"|(?:make|take) (?:a )?note\b(?:\s?,?\s?that\b|(?=\s?:))"
        r"|(?:a )?note (?:to self|for (?:the future|later|next time|future sessions))\b(?:\s?,?\s?that\b)?"
        r"|for (?:the future|future reference|future sessions|next time)\b(?=\s?[:,—–])"
        r"|(?:keep|bear) in mind (?:for (?:the future|later|next time|future sessions)|from now on)\b(?:\s?,?\s?that\b)?"
        r"|(?:save|store|add|commit|put|write)(?:\s(?:this|that|it))? (?:to|in|into) (?:your |the )?(?:long[- ]term )?memory\b"
        r"(?:\s?,?\s?that\b)?)[\s,:;—–-]{0,6}"
    ),
    not_a_statement=_compile(
        r"(?:when|how|what|where|who|why|which|whether|if|back|last|yesterday|me|us|him|her|them|the time|that time)\b"
    ),
    task=_compile(r"to\b|not to\b"),
)
_IT = Phrases(
    opening=_compile(
        r"(?:(?:per favore|per piacere|ok|allora|e|poi|anche|ah|grazie|ciao|senti|importante|inoltre)\b[\s,:;.!—–-]{1,4}){0,3}"
        r"(?:(?:puoi|potresti)\s(?:per favore\s)?|vorrei che\s|devi\s)?"
        r"(?:(?:ricorda(?:ti|te|tevi)?|ricordar(?:e|ti)|ricordassi|memorizza(?:re)?|prendi nota|segnati|annota(?:ti)?"
        r"|tieni (?:a mente|presente) per (?:il futuro|dopo))\b(?:\squesto)?(?:\sper (?:il futuro|dopo|sempre))?"
        r"|non (?:ti )?(?:dimenticar(?:e|ti)|scordar(?:e|ti))\b|(?:nota|appunto) per (?:il futuro|dopo)\b"
        r"|per (?:il futuro|le prossime volte|la prossima volta)\b(?=\s?[:,—–]))(?:\s?,?\s?che\b)?[\s,:;—–-]{0,6}"
    ),
    not_a_statement=_compile(r"(?:quando|come|cosa|dove|chi|perché|quale|quali|se)\b|quella volta"),
    task=_compile(r"d['’]|di\b|\w{2,20}(?:are|ere|ire)\b"),
)
_ES = Phrases(
    opening=_compile(
        r"(?:(?:por favor|ok|vale|y|también|además|oye|hola|gracias|importante|bueno)\b[\s,:;.!—–-]{1,4}){0,3}[¡¿]?"
        r"(?:(?:puedes|podrías)\s(?:por favor\s)?|quiero que\s|debes\s)?"
        r"(?:(?:recuerda|recuerde|recuerdes|recordar|recordad|acuérdate|acordarte|memoriza|apunta|anota"
        r"|ten en cuenta para (?:el futuro|siempre))\b(?:\sesto)?(?:\spara (?:el futuro|siempre|más tarde))?"
        r"|no (?:te |lo )?olvides\b|nota para (?:el futuro|más tarde)\b|para (?:el futuro|la próxima(?: vez)?)\b(?=\s?[:,—–]))"
        r"(?:\s?,?\s?(?:de )?que\b)?[\s,:;—–-]{0,6}"
    ),
    not_a_statement=_compile(r"(?:cuando|cuándo|cómo|qué|dónde|quién|cuál|si)\b|aquella vez"),
    task=_compile(r"de\b|\w{2,20}(?:ar|er|ir)(?:lo|la|los|las|me)?\b"),
)
_FR = Phrases(
    opening=_compile(
        r"(?:(?:s['’]il te plaît|s['’]il vous plaît|stp|svp|ok|et|aussi|bon|merci|salut|important|au fait|alors)\b"
        r"[\s,:;.!—–-]{1,4}){0,3}(?:(?:peux-tu|pourrais-tu|pouvez-vous|tu peux)\s|je veux que tu\s)?"
        r"(?:(?:souviens[- ]toi|souvenez[- ]vous|te souvenir|te souviennes|rappelle[- ]toi|retiens|retenez|retenir|retiennes"
        r"|mémorise[zr]?|garde en (?:mémoire|tête)|prends note|note (?:bien )?pour (?:le futur|plus tard|la suite))\b"
        r"(?:\s(?:ceci|ça|bien))?(?:\spour (?:le futur|plus tard|la suite|toujours))?"
        r"|n['’]oublie[zs]? (?:pas|jamais)\b|pour (?:le futur|la suite|la prochaine fois)\b(?=\s?[:,—–])|à retenir\b(?=\s?:))"
        r"(?:\s?,?\s?(?:que\b|qu['’]))?[\s,:;—–-]{0,6}"
    ),
    not_a_statement=_compile(r"(?:pas\b|quand|comment|ce qu|où|qui|pourquoi|quel|quelle|si|lorsqu)"),
    task=_compile(r"de\b|d['’]"),
)
_DE = Phrases(
    opening=_compile(
        r"(?:(?:bitte|ok|okay|und|auch|also|hey|hallo|danke|wichtig|übrigens|noch was)\b[\s,:;.!—–-]{1,4}){0,3}"
        r"(?:(?:merke?|notiere?) (?:dir|euch|es dir)\b|merk['’]s dir\b|(?:kannst|könntest) du dir (?:bitte )?merken\b"
        r"|denke? (?:bitte )?(?:immer )?(?:daran|dran)\b|erinnere? dich (?:bitte )?(?:immer )?(?:daran|dran)\b"
        r"|vergiss (?:bitte )?(?:nicht|nie(?:mals)?)\b|(?:behalte?|halte?) (?:bitte )?im (?:kopf|gedächtnis|hinterkopf)\b"
        r"|(?:notiz|hinweis|merke) für (?:die zukunft|später)\b|(?:für die zukunft|zum merken|fürs nächste mal)\b(?=\s?[:,—–]))"
        r"(?:\s(?:bitte|das|folgendes|für (?:die zukunft|später|immer)))*(?:\s?,?\s?dass\b)?[\s,:;—–-]{0,6}"
    ),
    not_a_statement=_compile(r"(?:nicht|wann|wie|was|wo|wer|warum|welche\w{0,2}|ob|als)\b"),
    task=_compile(r"[^.!?]{0,200}\bzu \w+en\b|[^.!?]{0,200}\b\w{2,12}zu\w+en\b"),
)
_PT = Phrases(
    opening=_compile(
        r"(?:(?:por favor|ok|e|também|além disso|oi|olá|obrigad[oa]|importante|bom)\b[\s,:;.!—–-]{1,4}){0,3}"
        r"(?:(?:você pode|podes|pode|poderia)\s(?:por favor\s)?(?:se\s)?|quero que (?:você\s)?(?:se\s)?)?"
        r"(?:(?:lembra|lembre|lembres|lembrar|lembrem)(?:-te|-se)?\b|(?:memoriza|memorize|anota|anote)\b"
        r"|(?:guarda|guarde) (?:na|em) memória\b|(?:tem|tenha) em mente para (?:o futuro|sempre)\b"
        r"|não (?:te |se )?esque[çc]as?\b|nota para (?:o futuro|mais tarde)\b|para (?:o futuro|a próxima(?: vez)?)\b(?=\s?[:,—–]))"
        r"(?:\s(?:isso|isto|disto|disso))?(?:\spara (?:o futuro|sempre|depois))?(?:\s?,?\s?(?:de )?que\b)?[\s,:;—–-]{0,6}"
    ),
    not_a_statement=_compile(r"(?:quando|como|onde|quem|qual|se|o que)\b|daquela vez"),
    task=_compile(r"de\b|\w{2,20}(?:ar|er|ir)\b"),
)
_ZH = Phrases(
    opening=_compile(
        r"(?:(?:请你?|請你?|麻烦你?|帮我|幫我|另外|还有|好的?|对了|嗯|你要|一定要|务必|你?(?:能|可以)(?:不能|帮我)?|也)[，,、\s]{0,2}){0,4}"
        r"(?:记住|記住|牢记|牢記|记下来?|記下來?|记一下|記一下|记着|记录一下|记得|記得|备忘|備忘|别忘了?|別忘了?|不要忘记?|不要忘記?|勿忘"
        r"|(?:给|為|为)?以后(?:的)?(?:备注|备忘|记录)|供以后参考|今后请注意)"
        r"(?:了|这一?点|這一?點|这件事|以下(?:内容)?|一下|下面的?(?:内容)?)?[，,:：、；\s—]{0,4}"
    ),
    not_a_statement=_compile(r"(?:了?吗|嗎|什么|怎么|哪|谁|为什么|上次|那次|不)"),
    task=_compile(r"(?:先|再|去|要|把|给|跑|运行|執行|执行|提交|检查|更新|删除|添加|加上|关|打开|写|改|重启|部署)"),
)
_JA = Phrases(
    opening=_compile(
        r"(?:(?:あと|ちなみに|それと|また|どうか|必ず|ぜひ|はい|次のことを|以下を|これを)[、,\s]{0,2}){0,3}"
        r"(?:(?:覚えて|憶えて|おぼえて|記憶して|記録して|メモして)(?:おいて|おいといて|ください|下さい|ね)"
        r"|忘れないで|(?:今後|将来|これから)のため(?:に|のメモ)?|今後のメモ)(?:ください|下さい|ほしい(?:です)?|ね|欲しい)?[、,:：。！!\s]{1,4}"
    ),
    not_a_statement=_compile(r"(?:います|いる)?か[?？]"),
    task=_compile(r"(?!)"),
)
LANGUAGES: tuple[Phrases, ...] = (_EN, _IT, _ES, _FR, _DE, _PT, _ZH, _JA)

#: "… , and remember that …": an ask in the middle of a sentence needs its conjunction.
INNER = _compile(
    r"(?:[,;—–]\s?|\s-\s|[,;]?\s(?:and|but|e|y|et|und)\s)(?:(?:and|but|also|so|please|e|y|et|und|por favor|per favore|bitte)\s){0,3}"
    r"(?=(?:please )?(?:remember|don['’]?t forget)\s(?:that|this)\b|ricorda(?:ti)?\sche\b|(?:recuerda|lembra|lembre)(?:-se|-te)?\sque\b"
    r"|(?:souviens-toi|retiens)\s(?:que\b|qu['’])|merke? dir,?\sdass\b)|[，,。]\s?(?=请?(?:记住|記住))"
)
#: Reported speech: what follows was said by somebody to somebody.
REPORTED = _compile(
    r"\b(?:said|says|say|told|tells?|wrote|writes|asked|asks|replied|like|ha detto|dice|dijo|dit|sagte?|disse|schrieb)\b[^.!?]{0,30}$"
    r"|(?:说|告诉|写道|言った|書いた)[^。]{0,10}$"
)
#: The ask stands behind the statement. Group 1 is the statement.
VERB_FINAL = _compile(
    r"(.{2,}?)(?:という?こと|って|ことを|こと|の)?(?:を|は|も|だと|と|、)?\s?(?:ちゃんと|必ず|しっかり|ぜひ|今後のために)?[、,]?"
    r"(?:(?:覚えて|憶えて|おぼえて|記憶して|記録して|メモして)(?:おいて|おいといて|ください|下さい|ね)|(?<!の)(?<!のを)忘れないで)"
    r"(?:いただけますか|もらえますか|くれますか|ください(?:ね)?|下さい|ほしい(?:です)?|欲しい(?:です)?|ね|くれ)?[。！!？?\s]*$"
    r"|(.{2,}?)[，,、]\s?(?:请|請|你要|要)?(?:记住|記住|别忘了|別忘了)(?:了|这一?点|這一?點|哦|啊|吧)?[。！!\s]*$"
)
#: "We use tabs, remember that." Group 1 is the statement.
BACKWARD = _compile(
    r"(.{4,}?)(?:[,;—–]| -)\s?(?:so |and |please |e |y |et |und )*(?:remember (?:that|this|it)|don['’]?t forget (?:that|this|it)"
    r"|ricordatelo|ricordalo|ricordati questo|recuérdalo|recuerda esto|souviens-t['’]?en|retiens[- ](?:ça|le|cela)"
    r"|merke? dir das|vergiss das nicht|lembra-te disso|lembre-se disso|lembra disso)(?:,? please)?[.!\s]*$"
)
RETRACTED = _compile(
    r"\b(?:(?:please )?(?:do not|don['’]?t) (?:remember|save|store|memori[sz]e) (?:that|this|it|any)|scratch that|never ?mind"
    r"|(?<!t )(?<!not )(?<!ever )forget (?:that|it|what i said)(?=[.,!;\s]*(?:$|[.,!;]))|non ricordar(?:lo|telo)|lascia perdere|no lo recuerdes|olvídalo|oublie ça|ne (?:le )?retiens pas"
    r"|vergiss (?:das|es)\b(?! nicht)|merk dir das nicht|esquece isso|não lembres)|别记|不用记|不要记|覚えなくて|覚えないで|忘れて(?:ください|いい)"
)
#: An action that shall be taken every time is a rule; without such a word it is a to-do of this turn.
LASTING = _compile(
    r"\b(?:always|never|by default|every|each|whenever|when|before|after|usually|normally|generally|in general|from now on"
    r"|in (?:the )?future|next time|use|prefer|keep|be|avoid|not to|answer|write in|call me"
    r"|sempre|mai|ogni|di default|prima di|dopo ogni|quando|usare|usa|d['’]ora in poi|evitare|rispondere"
    r"|siempre|nunca|cada|por defecto|antes de|cuando|usar|a partir de ahora|evitar|responder"
    r"|toujours|jamais|chaque|par défaut|avant (?:de|chaque)|quand|utiliser|désormais|éviter|répondre"
    r"|immer|nie|niemals|jede[smnr]?|standardmäßig|bevor|vor jedem|wenn|verwenden|benutzen|ab jetzt|künftig|vermeiden"
    r"|cada|por padrão|sempre que|toda vez)\b|每次|总是|一律|永远|默认|之前|以后|都要|从不|不要|不能|毎回|常に|必ず|いつも"
)
_EN_NOT_TEMPORARY = (
    r"project|repo|repository|codebase|code base|app|application|team|package|library|monorepo|workspace|feature|refactor"
    r"|component|viewer|service|product|company|machine|computer|laptop|user|language|framework"
)
TEMPORARY = _compile(
    rf"\bfor this(?! (?:\w+ )?(?:{_EN_NOT_TEMPORARY})s?\b)|\bthis (?:time|once)\b|\bfor now\b|\b(?:today only|(?:only|just) (?:for )?today|for today)\b"
    r"|\bin this (?:response|answer|reply|message|conversation|chat|session|file)\b|\b(?:the )?current (?:task|file|session)\b"
    r"|\btemporarily\b|\bis (?:only )?temporary\b|\bright now\b|\bat the moment\b|\bfor the (?:next|moment|rest of)\b"
    r"|\buntil (?:tomorrow|tonight|i |we |monday|tuesday|wednesday|thursday|friday|next )"
    r"|\bper (?:ora|adesso|oggi|il momento|questa (?:volta|sessione|risposta)|questo (?:task|file|compito))\b|\bsolo (?:per )?(?:oggi|questa volta)\b"
    r"|\bin questa (?:sessione|risposta|conversazione)\b|\btemporaneamente\b"
    r"|\bpor (?:ahora|hoy|el momento|esta vez)\b|\bsolo (?:por )?hoy\b|\b(?:en|para) esta (?:sesión|respuesta|tarea|vez)\b|\btemporalmente\b"
    r"|\bpour (?:l['’]instant|le moment|aujourd['’]hui|cette (?:fois|session|tâche|réponse)|ce fichier)\b|\bdans cette (?:session|réponse)\b|\btemporairement\b"
    r"|\b(?:fürs erste|vorerst|im moment|gerade eben|nur heute|für heute|vorübergehend|diesmal|dieses mal)\b"
    r"|\b(?:für|in) (?:diese[rnms]?) (?:aufgabe|datei|sitzung|session|antwort|mal)\b"
    r"|\bpor (?:agora|hoje|enquanto)\b|\bsó (?:por )?hoje\b|\b(?:nesta|para esta|desta) (?:sessão|resposta|tarefa|vez)\b|\btemporariamente\b"
    r"|暂时|目前先|今天先|仅(?:限)?今天|这次|這次|本次|这个任务|这一次|今回(?:だけ|は)|今だけ|とりあえず|今日だけ|一時的|このタスク|このセッション"
)
#: A to-do of this very turn.
THIS_TURN = _compile(
    r"\b(?:now|right away|immediately|first|then|later|today|tonight|tomorrow|when (?:you(?:'re| are)? (?:done|finish\w*))"
    r"|after (?:this|that)|afterwards|this (?:time|task|file)|ora|adesso|subito|dopo|domani|oggi|ahora|luego|después|mañana|hoy"
    r"|maintenant|ensuite|après|demain|jetzt|gleich|später|danach|morgen|heute|agora|depois|amanhã|hoje)\b"
    r"|现在|马上|待会|等会|明天|今天|今すぐ|後で|あとで|明日|今日"
)
PROJECT = _compile(
    r"\b(?:(?:this|the current|our|the) (?:\w+ )?(?:project|repo|repository|codebase|code base|monorepo|app|application|team|product|package)"
    r"|for the (?:web )?viewer|this (?:feature|refactor|component|viewer|service)|current (?:project|codebase)|in here"
    r"|we(?:['’](?:re|ve|ll|d))?|our|us"
    r"|quest[oa] (?:progetto|repo|repository|app|codice|codebase)|(?:il|del|nel) (?:progetto|repo|team)|noi|nostr[oaie]|\w{3,15}iamo"
    r"|est[ea] (?:proyecto|repo|repositorio|código|equipo|app)|(?:el|del) (?:proyecto|equipo|repo)|nosotros|nuestr[oa]s?|\w{2,15}(?:amos|emos|imos)"
    r"|ce (?:projet|dépôt|repo|code)|cette (?:app|application|équipe)|(?:le|du) (?:projet|dépôt)|l['’]équipe|nous|notre|nos"
    r"|diese[smnr]? (?:projekt|repo|repository|codebasis|app|team)|(?:das|im) (?:projekt|repo|team)|wir|unser\w{0,2}|uns"
    r"|(?:este|neste|deste|nosso) (?:projeto|repositório|repo|app|código|time)|(?:o|do|no) (?:projeto|time|repositório)|nós|noss[oa]s?)\b"
    r"|我们|我們|咱们|本项目|这个项目|该项目|这个仓库|本仓库|代码库|团队|このプロジェクト|本プロジェクト|このリポジトリ|このレポ|私たち|我々|弊社|チーム|うち(?:で)?は"
)
PERSONAL = _compile(
    r"\b(?:i|i['’](?:m|d|ve|ll)|my|me|mine|myself|in general|generally|usually|normally|by default|always|never|across projects?"
    r"|io|mi|mio|mia|miei|mie|preferisco|voglio|sono|uso|lavoro|sempre|mai|di default|di solito"
    r"|yo|me|prefiero|quiero|soy|siempre|nunca|por defecto|normalmente"
    r"|je|j|moi|mon|ma|mes|préfère|toujours|jamais|par défaut|d['’]habitude"
    r"|ich|mein\w{0,2}|mir|mich|immer|nie|niemals|standardmäßig|normalerweise"
    r"|eu|meu|minha|meus|minhas|prefiro|quero|sou|por padrão|normalmente)\b|我(?!们|們)|总是|默认|一律|私(?!たち)|僕|俺|常に|いつも"
)
IDENTITY = _compile(
    r"\b(?:call me|my name|nickname|i am called|i go by|mi chiamo|il mio nome|chiamami|soprannome|me llamo|mi nombre|llámame|apodo"
    r"|je m['’]appelle|mon (?:pré)?nom|appelle-moi|surnom|ich heiße|ich heisse|mein name|nenn mich|spitzname"
    r"|me chamo|meu nome|chame-me|me chame|me chama|apelido)\b|我叫|我的名字|叫我|昵称|私の名前|と呼んで|名前は"
)
STYLE = _compile(
    r"\b(?:concise\w*|brief\w*|short\w*|verbose|detailed|bullet points?|bullets|markdown|plain text|wordy|terse|emojis?"
    r"|concis[oaie]|brev[ei]|sintetic[oaie]|dettagliat[oaie]|punti elenco|elenco puntato|risposte|rispondi\w*|breves?|concis[oa]s?"
    r"|detallad[oa]s?|viñetas|respuestas|respond\w*|courte?s?|concise?s?|détaillé\w*|réponses?|répond\w*|puces"
    r"|kurze?[nrs]?|knapp\w*|ausführlich\w*|antwort\w*|stichpunkte\w*|curt[oa]s?|resumid[oa]s?|detalhad[oa]s?|respostas|tópicos)\b"
    r"|简洁|简短|详细|回答|回复|列表|要点|簡潔|短く|詳しく|返答|回答|箇条書き"
)
CODING = _compile(
    r"\b(?:code|coding|implement(?:ation)?|functions?|scripts?|librar(?:y|ies)|frameworks?|stack|tool(?:ing|s)?|test(?:ing|s)?"
    r"|formatter|lint(?:er|ing)?|cli|backend|frontend|language|daemon"
    r"|codice|libreria|linguaggio|funzion[ei]|código|biblioteca|lenguaje|función|bibliothèque|langage|fonctions?"
    r"|bibliothek|programmiersprache|funktion(?:en)?|linguagem|função|funções|pruebas|testes|testen)\b"
    r"|代码|函数|脚本|框架|测试|编程|语言|コード|関数|スクリプト|ライブラリ|テスト|言語"
)
