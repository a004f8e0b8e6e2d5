"""Names of phones in CMU's set, as flite, Festival and PocketSphinx write them, to IPA."""

from typing import Final

_CMU: Final = (
    "aa:ɑ ae:æ ah:ʌ ao:ɔ aw:aʊ ax:ə axr:ɚ ay:aɪ b:b ch:tʃ d:d dh:ð dx:ɾ eh:ɛ el:l em:m en:n er:ɝ ey:eɪ "
    "f:f g:ɡ hh:h hv:h ih:ɪ ix:ɪ iy:i jh:dʒ k:k l:l m:m n:n ng:ŋ nx:n ow:oʊ oy:ɔɪ p:p r:ɹ s:s sh:ʃ t:t "
    "th:θ uh:ʊ uw:u ux:u v:v w:w y:j z:z zh:ʒ"
)
CMU_TO_IPA: Final[dict[str, str]] = dict(pair.split(":") for pair in _CMU.split())
_PAUSES: Final = " pau sil h# ssil brth +spn+ +nsn+ (null) <sil> <s> </s> sp # "


def ipa_of_cmu(name: str) -> str:
    """IPA of a phone (stress digits are ignored), ``""`` for a pause.

    Raises:
        KeyError: Unknown name.
    """
    low = name.lower().rstrip("012")
    return "" if f" {low} " in _PAUSES else CMU_TO_IPA[low]
