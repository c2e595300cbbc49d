"""The words of `clew.core.opt_outs`, language by language: English, Italian, Spanish, French, German, Portuguese, Chinese,
Japanese.

Each pattern matches where a clause begins, courtesy included, in lower case with straight apostrophes; `§` stands for
what was in quotation marks. Negated words of saving may speak of a file, so they count only with a bare "this" as
their object, and not behind a condition ("if the form is invalid, don't save it").
"""

# ruff: noqa: RUF001 - words and marks of many scripts

from __future__ import annotations

from dataclasses import dataclass

from clew.core.patterns import LazyPattern


@dataclass(frozen=True, slots=True, kw_only=True)
class OptOut:
    """How one language asks not to remember.

    Attributes:
        plain: what can only mean memory.
        saving: what may mean a file as well.
    """

    plain: LazyPattern
    saving: LazyPattern


def _opt_out(courtesy: str, plain: str, saving: str) -> OptOut:
    before = rf"(?:(?:{courtesy})\b[\s,:;.!—–-]{{0,4}}){{0,4}}"
    return OptOut(plain=LazyPattern(f"{before}(?:{plain})"), saving=LazyPattern(f"{before}(?:{saving})"))


# The clause ends here, or goes on without naming another object.
_MARKS = r"$|[.!?…;,:—–)§。！？；，：、]|-\s"
_END = (
    rf"(?=\s*(?:{_MARKS}|(?:please|pls|ok|okay|thanks|either|anywhere|at all|about me|because|since)\b"
    r"|for (?:later|the future|next time|good|me)\b|to (?:your |the )?memory\b|in(?:to)? (?:your|long[- ]term) ))"
)
_EN_NEGATED = (
    r"(?:do not|don't|dont|never|you (?:don't|do not|dont) (?:have|need) to|you (?:must not|mustn't|should not|shouldn't|needn't)"
    r"|(?:there's |there is )?no need (?:for you )?to|try not to|better not|make sure (?:not to|you don't|you do not)"
    r"|(?:can|could|would|will) you (?:please )?not|i (?:do not|don't|dont|would not|wouldn't) (?:want|like|need) you to"
    r"|i(?:'d| would) (?:rather|prefer) (?:that )?you (?:did not|didn't|not|don't|do not))\s(?:please |ever |even )?"
)
# Said to somebody without doubt, so that any object will do.
_EN_TO_YOU = (
    r"(?:(?:please|pls),? (?:do not|don't|dont|never)|(?:do not|don't|dont) please|(?:can|could|would|will) you (?:please )?not"
    r"|i (?:do not|don't|dont|would not|wouldn't) (?:want|like|need) you to"
    r"|i(?:'d| would) (?:rather|prefer) (?:that )?you (?:did not|didn't|not|don't|do not))\s(?:ever |even )?"
)
_EN_THING = (
    r"(?:message|messages|part|bit|one|fact|info|information|sentence|conversation|chat|details?|things?|turn|exchange)"
)
_EN_THIS = (
    rf"(?:(?:any|all) of )?(?:(?:this|that|these|those|my last|my previous)(?: {_EN_THING}\b)?|it|them|the following|§)"
)
_EN_SAID = r"(?:what(?:ever)?|anything|everything|all)(?: that)? (?:i|i've|i have|i'm|i am|i'll)\b"
_EN = _opt_out(
    r"please|pls|ok|okay|hey|hi|oh|actually|also|and|but|so|just|btw|by the way|no|wait|sorry|then|again|important|note|fyi"
    r"|you (?:can|could|may|should)",
    rf"{_EN_NEGATED}(?:remember|memori[sz]e) {_EN_THIS}{_END}"
    rf"|{_EN_TO_YOU}(?:remember|memori[sz]e)\b(?! (?:to|how to)\b)"
    rf"|(?:no need|you (?:don't|do not|dont) (?:have|need)) to remember{_END}"
    rf"|{_EN_NEGATED}(?:make|take) (?:a )?notes? (?:of|about) {_EN_THIS}{_END}"
    rf"|{_EN_NEGATED}(?:add|put|commit|save|store|keep|write|record) (?:[^\s.!?;,:]{{1,20}} ){{1,6}}(?:in|to|into) "
    r"(?:your (?:long[- ]term )?|long[- ]term )(?:memory|memories)\b"
    rf"|{_EN_NEGATED}(?:add|commit) {_EN_THIS} to memory\b"
    r"|(?:this|that|it) (?:should|must|shall|need|does|is)(?: not|n't) (?:(?:need |have )?to )?(?:be )?(?:remembered|memori[sz]ed)\b"
    rf"|(?:keep|leave) {_EN_THIS} (?:out of (?:your |the )?(?:long[- ]term )?(?:memory|memories)|off the record)\b"
    r"|(?:(?:this|that|it)(?: is|'s) |strictly )?off the record\b"
    rf"|forget (?:about )?(?:{_EN_SAID}|(?:that )?i (?:ever |just )?(?:said|told|mentioned|wrote)\b"
    rf"|(?:this|that|my last|my previous|the last) {_EN_THING}\b|(?:this|that)[.!\s]*$)"
    rf"|(?:please|pls),? (?:just )?forget (?:about )?(?:this|that|it){_END}"
    rf"|(?:delete|erase|remove|wipe) (?:[^\s.!?;,:]{{1,20}} ){{1,6}}from your (?:memory|memories)\b",
    rf"{_EN_NEGATED}(?:save|store|record|persist|note|write down) (?:{_EN_THIS}(?: down)?{_END}|{_EN_SAID})",
)

_IT_END = rf"(?=\s*(?:{_MARKS}|(?:per favore|grazie|perché|nella|in memoria|mai)\b))"
_IT_THIS = r"(?:quest[oa]|quell[oa]|ciò|quanto|nulla|niente|§)(?: (?:cosa|fatto|messaggio|parte|informazione|dato))?"
_IT_SAID = r"(?:quello|quel|quanto|ciò|tutto quello)(?: che)? (?:ti )?(?:ho|avevo)\b"
_IT = _opt_out(
    r"per favore|per piacere|ti prego|ok|e|ma|però|anzi|no|ah|allora|scusa|importante|mi raccomando",
    r"non (?:ricordar|memorizzar)(?:lo|la|li|le|telo|tela|ti(?! di\b))\b"
    rf"|non (?:ricordare|memorizzare) (?:{_IT_THIS}{_IT_END}|{_IT_SAID}|che\b|il mio\b|la mia\b)"
    r"|non (?:te )?(?:lo|la) (?:ricordare|memorizzare|segnare|appuntare)\b"
    r"|non (?:devi|serve|occorre|c'è bisogno di|è necessario) (?:che (?:tu )?)?(?:te )?(?:lo |la )?(?:ricord|memorizz)\w{1,8}\b"
    r"|non voglio che (?:tu )?(?:te )?(?:lo |la )?(?:ricordi|memorizzi|salvi|conservi)\b"
    rf"|(?:dimentica|scorda)(?:ti)? (?:di )?{_IT_SAID}|(?:dimentica|scorda)(?:lo|telo)[.!\s]*$"
    rf"|(?:dimentica|scorda)(?:ti)? (?:quest[oa]|quell[oa])(?: cosa)?[.!\s]*$",
    rf"non (?:salvar|conservar|registrar|annotar|segnar|memorizzar)(?:lo|la|telo|tela){_IT_END}"
    rf"|non (?:salvare|conservare|registrare|annotare|segnare) {_IT_THIS}{_IT_END}|non (?:lo|la) salvare{_IT_END}",
)

_ES_END = rf"(?=\s*(?:{_MARKS}|(?:por favor|gracias|porque|nunca|en (?:tu|la) memoria)\b))"
_ES_THIS = r"(?:est[oa]|es[oa]|aquello|nada|§)(?: (?:dato|mensaje|parte|información))?"
_ES_SAID = r"lo que (?:(?:te )?(?:acabo de|dije|he dicho|conté|he contado|mencioné))\b"
_ES = _opt_out(
    r"por favor|porfa|ok|vale|y|pero|no|oye|ah|perdón|mejor|importante|¡",
    r"no (?:me |te )?(?:lo|la|los|las) (?:recuerdes|recuerde|memorices|memorice)\b|no te acuerdes\b"
    rf"|no (?:recuerdes|recuerde|memorices|memorice) (?:{_ES_THIS}{_ES_END}|{_ES_SAID}|que\b|mi\b)"
    r"|no (?:hace falta|es necesario|quiero|necesito|tienes) que (?:tú )?(?:lo |la )?(?:recuerdes|memorices|guardes|recordar\w{0,3})\b"
    r"|no (?:hace falta|es necesario|tienes que) (?:recordar|memorizar)(?:lo|la)?\b"
    rf"|(?:olvida|olvide|olvídate de|olvídese de) (?:{_ES_SAID}|(?:esto|eso)[.!\s]*$)|olvídalo[.!\s]*$",
    rf"no (?:me |te )?(?:lo|la) (?:guarde|anote|apunte|registre|grabe|almacene)s?{_ES_END}"
    rf"|no (?:guarde|anote|apunte|registre|grabe|almacene)s? (?:{_ES_THIS}{_ES_END}|{_ES_SAID})",
)

_FR_END = rf"(?=\s*(?:{_MARKS}|(?:s'il|stp|svp|merci|parce|car|en mémoire)\b))"
_FR_THIS = r"(?:ça|cela|ceci|rien|§)"
_FR_NOT = r"(?:pas|jamais|surtout pas|plus|rien)"
_FR_SAID = r"ce que (?:je (?:viens de|t'ai|vous ai)|j'ai)\b"
_FR = _opt_out(
    r"s'il te plaît|s'il vous plaît|stp|svp|ok|et|mais|non|ah|pardon|surtout|important|en fait",
    rf"(?:ne |n')?(?:retiens|retenez|mémorise[sz]?) {_FR_NOT} (?:{_FR_THIS}{_FR_END}|{_FR_SAID}|qu[e']|mon\b|ma\b|mes\b)"
    rf"|ne (?:le |la |les )(?:retiens|retenez|mémorise[sz]?) {_FR_NOT}\b"
    rf"|ne t'en souviens {_FR_NOT}\b|ne te souviens {_FR_NOT} de (?:ça|cela)\b"
    rf"|(?:ne |n')?(?:le |la )?garde[sz]? {_FR_NOT} (?:{_FR_THIS} )?en mémoire\b"
    r"|je ne veux pas que (?:tu|vous) (?:le |la |l'|t'en )?(?:retien|reten|mémoris|souvien|enregistr|gard)\w{1,6}\b"
    r"|(?:tu n'as |il n'y a |vous n'avez )?pas besoin de (?:le |la |t'en )?(?:retenir|mémoriser|souvenir)\b"
    rf"|oublie[sz]? (?:{_FR_SAID}|(?:ça|cela)[.!\s]*$)",
    rf"(?:ne |n')?(?:enregistre|sauvegarde|note|conserve|garde)[sz]? {_FR_NOT} {_FR_THIS}{_FR_END}"
    rf"|ne (?:l'|le |la )(?:enregistre|sauvegarde|note|conserve|garde)[sz]? {_FR_NOT}{_FR_END}",
)

_DE_END = rf"(?=\s*(?:{_MARKS}|(?:bitte|danke|weil|denn|im gedächtnis)\b))"
_DE_THIS = r"(?:das|dies|es|diese\w{0,2}(?: (?:nachricht|info|information|satz|angabe))?|§)"
_DE_SAID = r"(?:alles,? )?was ich\b"
_DE = _opt_out(
    r"bitte|ok|okay|und|aber|nein|ach|oh|sorry|moment|also|wichtig|übrigens|doch",
    rf"merke? dir (?:(?:bitte|{_DE_THIS}|davon|folgendes) ){{0,3}}nicht\b|merk's dir (?:bitte )?nicht\b"
    rf"|(?:{_DE_THIS} )?(?:bitte )?nicht merken\b|behalte? (?:{_DE_THIS} )?(?:bitte )?nicht im (?:gedächtnis|kopf)\b"
    rf"|du (?:sollst|musst|brauchst|darfst) dir {_DE_THIS} nicht (?:zu )?merken\b"
    rf"|ich (?:will|möchte) nicht,? dass du (?:dir )?(?:{_DE_THIS} )?(?:\w{{1,20}} ){{0,4}}(?:merkst|speicherst|behältst)\b"
    rf"|vergiss,? (?:bitte,? )?{_DE_SAID}|vergiss (?:bitte )?(?:das|es|dies)(?: bitte| wieder| einfach)*[.!\s]*$",
    rf"(?:speicher|notier|sicher)e? {_DE_THIS} (?:bitte )?nicht(?: ab)?{_DE_END}"
    rf"|(?:{_DE_THIS} )?(?:bitte )?nicht (?:ab)?speichern{_DE_END}|(?:{_DE_THIS} )?(?:bitte )?nicht notieren{_DE_END}"
    rf"|schreib {_DE_THIS} (?:bitte )?nicht auf{_DE_END}",
)

_PT_END = rf"(?=\s*(?:{_MARKS}|(?:por favor|obrigad[oa]|porque|na memória|nunca)\b))"
_PT_THIS = r"(?:isso|isto|disso|disto|aquilo|nada|§)"
_PT_SAID = r"o que (?:eu )?(?:te )?(?:disse|falei|acabei|contei|mencionei)\b"
_PT = _opt_out(
    r"por favor|ok|e|mas|não|ah|oi|desculpe?|importante|aliás",
    rf"não (?:te |se |o |a )?(?:lembre|lembres|lembra|memorize|memorizes|memoriza)(?:-se|-te)? (?:{_PT_THIS}{_PT_END}|de que\b|que\b|{_PT_SAID})"
    r"|não (?:o |a )(?:memorize|memorizes|memoriza)\b"
    r"|não (?:precisa|precisas|é preciso|tem que|tens de) (?:se |de )?(?:lembrar|memorizar|guardar)(?:-se|-te|-lo)?\b"
    r"|não quero que (?:você |tu )?(?:se |te |o )?(?:lembr|memoriz|guard|salv)\w{1,4}\b"
    rf"|(?:esqueça|esquece|esqueças) (?:{_PT_SAID}|(?:isso|isto)[.!\s]*$)",
    rf"não (?:guard|salv|grav|anot|armazen)(?:e|es|a) {_PT_THIS}{_PT_END}|não (?:registre|registe)s? {_PT_THIS}{_PT_END}"
    rf"|não (?:o|a) (?:guard|salv|grav|anot|armazen)(?:e|es){_PT_END}",
)

_CJK_END = rf"(?=[\s啊哦吧呀了哈ね]*(?:{_MARKS}))"
_ZH_NOT = r"(?:不要|不用|不必|不需要|无需|無需|别|別|勿)(?:再|去|帮我|幫我)?"
_ZH_THIS = r"(?:这|這|那)(?:个|個|些|条|條|点|點|句话|句話|件事|段话|段話)?|它|我(?:刚才|剛才|刚刚|剛剛)?说的(?:话|話)?|以上(?:内容)?"
_ZH_TOPIC = rf"(?:(?:{_ZH_THIS})(?:也|都)?)?(?:请你?|請你?|麻烦你?|你|就|但|但是|所以|那|也|先){{0,3}}"
_ZH = OptOut(
    plain=LazyPattern(
        rf"{_ZH_TOPIC}{_ZH_NOT}(?:把(?:{_ZH_THIS}))?(?:记住|記住|记下|記下|牢记|牢記|记(?={_MARKS}|[这這那它我\s啊哦吧])|記(?={_MARKS}))"
        r"|(?:请|請|麻烦你?|你|就|那){0,3}(?:忘了|忘掉|忘记|忘記)(?:掉)?(?:我)?(?:刚才|剛才|刚刚|剛剛|之前|上面)?(?:说|說|讲|的话|的話|告诉)"
        r"|(?:请|請|麻烦你?|你|就|那){0,3}把(?:我)?(?:刚才|剛才|刚刚|这|這|那).{0,8}(?:忘了|忘掉|忘记)"
    ),
    saving=LazyPattern(
        rf"{_ZH_TOPIC}{_ZH_NOT}(?:(?:保存|存储|储存|儲存|记录|記錄|存)(?:{_ZH_THIS}){_CJK_END}|把(?:{_ZH_THIS})(?:保存|存|记录|記錄)(?:下来|起来)?{_CJK_END})"
        rf"|(?:{_ZH_THIS})(?:请|請|也|就)?{_ZH_NOT}(?:保存|存储|储存|记录|存){_CJK_END}"
    ),
)

# Japanese asks at the end of a clause, so whatever stands before it is let pass.
_JA_WISH = rf"(?:(?:ください|下さい|くれ(?:ますか)?|ほしい(?:です)?|欲しい(?:です)?|おいて(?:ください)?|もらえますか|いい(?:です)?|結構です|大丈夫(?:です)?|よ|ね)*(?=\s*(?:{_MARKS})))"
_JA_THIS = r"(?:これ|それ|この(?:こと|話|件|メッセージ)|その(?:こと|話|件)|今の(?:話|こと)?|さっきの(?:話|こと)?|以上)"
_JA = OptOut(
    plain=LazyPattern(
        rf"[^\s。！？；，、]{{0,60}}?(?:(?:覚え|憶え|おぼえ)(?:ないで|なくて|ておかないで)|(?:記憶|メモ)(?:しないで|しなくて)){_JA_WISH}"
        rf"|(?:{_JA_THIS}|[^\s。！？；，、]{{0,20}}?(?:言った|話した|書いた)(?:こと|の|内容))(?:は|を|なら)?(?:全部|もう)?忘れて{_JA_WISH}"
    ),
    saving=LazyPattern(rf"{_JA_THIS}(?:は|を|も)?(?:保存|記録)(?:しないで|しなくて){_JA_WISH}"),
)

OPT_OUTS: tuple[OptOut, ...] = (_EN, _IT, _ES, _FR, _DE, _PT, _ZH, _JA)

#: Where a clause begins.
CLAUSE_START = LazyPattern(
    r"[.!?…;,:—–(。！？；，：、]\s*|\s-\s|\s(?=(?:but|ma|però|pero|mais|aber|mas)\s|and please\s)"
)
#: What stands in quotation marks was said by somebody else, or is spoken about.
QUOTED = LazyPattern(
    r"\"[^\"]{0,2000}\"|“[^”]{0,2000}”|„[^“”]{0,2000}[“”]|«[^»]{0,2000}»|「[^」]{0,2000}」|『[^』]{0,2000}』|`[^`]{1,2000}`"
    r"|(?<![\w'])'[^'\n]{1,200}(?:'\w[^'\n]{0,200}){0,4}'(?!\w)"
)
#: A condition before it makes a wish about saving a rule for a program.
CONDITION = LazyPattern(
    r"(?:^|[,;:]\s|\b(?:and|but|e|ma|y|pero|et|mais|mas)\s)\s*(?:se|si)\b"
    r"|\b(?:if|when|whenever|unless|once|until|while|quando|finché|cuando|quand|lorsque?|wenn|falls|sobald|caso)\b"
    r"|如果|当|當|若|的时候|场合|たら|れば|なら|とき|場合"
)
#: "I told you: …" reports the person's own words.
OWN_WORDS = LazyPattern(r"\b(?:i|i've|i have|i already) (?:just |already )?(?:said|told|asked|wrote)\b")
