"""The phrases by which English sentences name relatives."""

from __future__ import annotations

from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.fields import FieldName

NUMBERS = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|twenty|"
    r"several|many|\d{1,2})"
)
ADJECTIVE = (
    rf"(?:first|second|third|fourth|fifth|sixth|seventh|eldest|oldest|elder|older|younger|youngest|only|"
    rf"twin|late|future|beloved|"
    rf"own|new|full|maternal|surviving|legitimate|illegitimate|natural|adopted|adoptive|infant|baby|teenage|widowed|then|"
    rf"former|other|another|"
    rf"{NUMBERS}|half|step|foster|paternal|dear|devoted|pregnant|famous|young|little|favou?rite|more|"
    rf"further|known|sole|[\w\-]+-(?:year|month|week|day)-old|of (?:his|her) )"
)
CHILD_OF = regex.compile(
    r"(?<![\w\-])(?P<kind>(?i:son|daughter|child|sons|daughters|children))\b"
    r"(?:\s+(?:born|and heir|and namesake))?(?:\s+\([^()]*\))?\s+(?:of|to)\s+"
    r"(?:\d+-year-old\s+|parents\s+)?"
)
CHILD_CUE = regex.compile(r"(?<![\w\-])(?:sons?|daughters?|child|children|born)\b[^.;]*\b(?:of|to)\b|\bparents\b")
BORN_TO = regex.compile(
    r"\bborn\b(?P<gap>(?:[^.;:()]|\([^()]*\)|(?<=\d):(?=\d)|\b[ap]\.m\.|(?<=\bSt)\.){0,170}?)\bto\s+"
    r"(?:(?:an?\s+)?(?:[\p{L}\-]+\s+){0,3}(?:parents|couple),?\s+(?:the\s+(?=\p{Ll}))?)?"
)
WHERE = regex.compile(
    r"(?!.*\band\s+\p{Ll}|.*\b\p{Ll}+ed\b)(?:[^()]{0,130}|(?:\P{Ll}|\b\p{Lu}[\p{L}\-]*|\([^()]*\)|"
    r"\b(?:in|at|on|near|the|of|an?|and|or|about|into|village|town|city|province|county|district|family|then|now|part|di|"
    r"working-class)\b)*)"
)
"""Where and when somebody was born, between 'born' and 'to'."""
ROLE_OF = regex.compile(
    r"(?<![\w\-])(?P<kind>wife|husband|widow|consort|queen consort|father|mother|brother|sister|"
    r"half[ \-]brother|half[ \-]sister)\s+(?:of|to)\s+"
)
ROLE_FIELDS: dict[str, FieldName] = {
    "wife": "spouse", "husband": "spouse", "widow": "spouse", "consort": "spouse", "queen consort": "spouse",
    "father": "child", "mother": "child", "brother": "sibling", "sister": "sibling",
    "half-brother": "sibling", "half-sister": "sibling",
}  # fmt: skip
ROLE_SEX = {
    "wife": "female", "widow": "female", "queen consort": "female", "mother": "female", "sister": "female",
    "half-sister": "female", "husband": "male", "father": "male", "brother": "male", "half-brother": "male",
    "son": "male", "sons": "male", "daughter": "female", "daughters": "female",
}  # fmt: skip
BLOCKS = regex.compile(
    r"\b(?:married|marry|marrying|wife|husband|widow|mother|father|brother|sister|succeeded|whom|who|whose|"
    r"met|niece|nephew|cousin|"
    r"friend|lover|mistress|with|against|not|never|claimed|rival|named after|like|another|named|engaged|"
    r"betrothed|appointed|that|which|whether|surrogate|honorary|spiritual|announced|falsely|pretended|"
    r"daughter|son|uncles?|aunts?|cousins|friends|brothers|sisters|grandson|granddaughter|tutor|tutored|"
    r"taught|served|under|between|killed|defeated|by|did|pronounced|declared|called|styled|"
    r"proclaimed|considered|regarded|believed|said|other|handful|among|supposedly|descendant|descended|"
    r"visited|about(?!\s+\d)|plays?|played|"
    r"entrusted|given|taken|playing|portray\w*|starr\w*|role|character|transformed|demigod|goddess|god|disguised)\b",
    regex.IGNORECASE,
)
OWNED = regex.compile(
    rf"\s+(?:[a-z\-]+\s+and\s+(?=[a-z\-]+\s+(?:wife|husband|son|daughter|child|brother|sister)\b))?"
    rf"(?:{ADJECTIVE}[,\s]+){{0,3}}"
    r"(?:(?!spiritual|alleged|supposed|fictional|unborn|would-be|late|with|and|to|of)"
    r"(?:\p{Ll}{4,14}|\p{Lu}\p{Ll}+(?:an|ian|ese|ish|ch))\s+)?"
    r"(?:half-|step-?|foster )?(?P<kind>father|mother|parents|wife|husband|sons?|daughters?|children|child|"
    r"brothers?|sisters?|widow|consort|siblings)"
    r"(?!-|\w|['’]s)(?:\s+(?:and\s+(?:heir|successor|namesake|co-ruler)|to (?:reach|survive)\s+\p{Ll}+))?"
)
OWNED_FIELDS: dict[str, FieldName] = {
    "father": "father", "mother": "mother", "parents": "parent", "wife": "spouse", "husband": "spouse",
    "widow": "spouse", "consort": "spouse", "son": "child",
    "sons": "child", "daughter": "child",
    "daughters": "child", "children": "child", "child": "child", "brother": "sibling", "brothers": "sibling",
    "sister": "sibling", "sisters": "sibling", "siblings": "sibling",
}  # fmt: skip
LINKS = regex.compile(
    r"(?:,\s+(?:who|an?|from|daughter|son)\b[^,;.]{1,60},|\s*\([^()]*\)|,)?\s+(?:was|were|is|are|being|included|include)\s+"
    r"(?:named\s+|called\s+|also named\s+|known as\s+|the former\s+|(?:his|her)\s+namesake,?\s+)?|"
    r",\s+(?:born|née|nee)\s+(?=\p{Lu})|"
    r",(?:[^,;.]{1,30},)?\s+also (?:named|called)\s+|,?\s+(?:whom they\s+)?(?:named|called|including)\s+|"
    r",\s+(?:the\s+(?:former\s+)?)?|\s*[:(]\s*|\s+"
)
CLOSED = regex.compile(r"\s*(?:[,.;:)(–—]|$|\b(?:and|was|were|in|on|at|from|who|had|died|born|to|as|of)\b)")
GOES_ON = regex.compile(r"\s+\p{Ll}{2}")
"""What may follow a name that surely is one: 'his daughter Eve Curie wrote'."""
MARRY = regex.compile(
    r"\b(?:re)?(?:married|marries|weds?|wedded)\b(?!\s+(?:life|couple|women|men|man|woman|into|with))"
)
HAD_MARRIAGE = regex.compile(
    r"\s+(?:had|contracted|entered(?:\s+into)?|made)\s+(?:an?|another)\s+(?:[\p{Ll}\-]+\s+){0,2}marriage\s+(?:to|with)\s+"
)
MARRIAGE_TO = regex.compile(
    r"\b(?:marriage|wedding|engagement and marriage)(?:,(?:[^,;.\p{Lu}]{1,30},)?)?(?:\s+was)?\s+(?:to|with)\s+"
)
ALLOWED_BEFORE = regex.compile(
    r"(?:\s|,|\b(?:who|was|had|then|later|also|secretly|first|finally|eventually|soon|again|subsequently|got|"
    r"remarried|met|and|has|had been|been|"
    r"once|is|in|on|about|around|c|his|her|the|of|at|age|year|same|following|next|aged|would|have|twice|"
    r"briefly|legally|himself|herself|"
    r"after|month|months|years|fell|love|became|engaged|to|January|February|March|April|May|June|July|"
    r"August|September|October|"
    r"November|December|ceremony|private|returned|moved|there|he|she|when|where|himself|courted|\d+(?:st|"
    r"nd|rd|th)?)\b)*"
)
AFTER_MARRY = regex.compile(
    r"(?:\s+(?:for\s+)?(?:an?|the)\s+(?:second|third|fourth)\s+time)?"
    r"(?:\s+(?:to|again|secondly|firstly|first|second|twice|thirdly|off|fourthly)\b,?)*"
    r"(?:,?\s+(?:on|"
    r"in)\s+(?:\p{Lu}\p{Ll}+\s+)?\d{1,4}(?:,?\s+(?:\p{Lu}\p{Ll}+,?\s+)?\d{4})?,?(?=\s))?(?:\s*,?\s*(?:firstly|secondly|first|second)?\s*(?:to)?)"
)
MARRIED_THERE = regex.compile(
    r",[^,;]{1,60},\s+to\s+(?=\p{Lu}|an?\s)|"
    r"\s+(?:in|at|by|through)\s(?:(?!\bto\b)[^;.()]){1,50}?\s+to\s+(?=\p{Lu}|an?\s|the\s|(?:his|her)\s)"
)
"""'was married at Aue to': where and how, before whom."""
HAD = regex.compile(
    r"\b(?:had|have|having|bore|bearing|raised|adopted(?!\s+(?:sons?|daughters?|child))|fathered|produced|has|"
    r"gave birth to|survived by|leaving|left|paternity of|(?:father|mother|parents?) of(?=\s+(?:an?|\d+|\p{Ll}+)\s))\b"
)
CHILD_BLOCKS = regex.compile(r"\b(?:who|whose|whom|married|brother|sister|nephew|niece|cousin)\b|\b(?:step-?)?grand")
CHILDREN = regex.compile(
    rf"(?<![\w\-'’])(?:(?:an?|one|another|the|their|a number of|{NUMBERS})\s+)"
    rf"(?:(?:{ADJECTIVE}|[a-z]{{3,12}}ed|and|or)[,\s]+){{0,4}}"
    r"(?P<kind>sons?|daughters?|child|children|girls?|boys?)\b(?!-)"
)
CHILD_LINK = regex.compile(
    r"(?!\s+who\b|\s+whose\b)(?:[^.;:()\p{Lu}]|(?<=\b(?:in|at|from)\s)\p{Lu}){0,60}"
    r"(?:\([^()]*\))?[^.;:()\p{Lu}]{0,30}:\s*(?:(?:sons|daughters|twins)\s+)?|"
    r"(?:(?!\bwho|\bmarried\b)[^.;:()\p{Lu}]){0,60}(?:\([^()]*\))?(?:,(?!\s+who)[^.;:()\p{Lu}]{0,50})?,?\s+including\s+|"
    r",\s*\(\s*(?=\p{Lu})|"
    r",?\s+(?:but\s+|of whom\s+)?only\s+\w+\s+(?:of whom\s+)?(?:survived|lived|reached)\b[^,:;.()]{0,40}:\s*|"
    r"(?:(?:\s+who\s+(?:lived|survived|reached|grew)\b[^,;:.()]{0,40})?"
    r"(?:\s+(?:together|in all|(?:with|by) (?:her|him|this marriage|(?:his|her) \w+(?: wife|"
    r" husband)?,?(?: \p{Lu}[\p{L} ]{1,30})?|\p{Lu}[\p{L} ]{1,30})))?"
    r"(?:\s+out of wedlock)?\s*[,:;–—]\s*"
    r"(?:(?:[a-z]+ (?:sons?|daughters?|girls?|boys?) and [a-z]+ (?:sons?|daughters?|girls?|"
    r"boys?))\s*[:,]\s*)?(?:who were |(?:also )?named |called |including |twins |(?:sons|daughters) )?|"
    r",?\s*\(\s*(?!\p{Lu}[\p{L}\-]+,?\s+\d{4})|\s+(?:named|called|-)\s+|\s+(?=\p{Lu}))"
)
SIBLINGS = regex.compile(
    rf"(?<![\w\-'’])(?:an?|one|another|{NUMBERS})\s+(?:{ADJECTIVE}[,\s]+){{0,3}}(?:half-)?(?P<kind>brothers?|sisters?|siblings?)\b(?!-)"
)
AND_KIN = regex.compile(
    rf"(?:,?\s+and\s+|,\s+(?=(?:{ADJECTIVE}\s+)+\p{{Ll}}+\s+\p{{Lu}}))(?:{ADJECTIVE}\s+){{0,2}}"
    r"(?P<kind>father|mother|wife|husband|sons?|daughters?|children|brothers?|sisters?)"
    r"(?!-|\w|['’]s)"
)
"""'his brother Ned and sister Ann': the second has the same owner."""
COORDINATED = regex.compile(
    r"(?!\s*,?\s*and\b)(?!.*\b(?:who|whom|whose|which|that|when|while|because|as|since|until|if|but|though|although|"
    r"where|how|why|she|he|they|it|I|(?:his|her|their) (?:[\w\-]+ )?(?:sons?|daughters?|brothers?|sisters?|father|"
    r"mother|nephew|niece|friend|cousin)(?!['’]))\b)[^;:–—()]{0,200}?,?\s+and\s+(?:[\p{Ll}]+ly\s+|then\s+|later\s+|soon\s+|"
    r"together\s+|in \d{4},?\s+)?"
)
"""'left Aue for Dorn and': what follows is told of whoever the words before are told of."""
