"""Where the visible articulators go for each sound: the table behind every lip track.

A *control* is one symmetric movement of the mouth; `taoxr_models.a2bs.rig` turns controls into the 52
ARKit weights. A sound's row says the value of each control it cares about and how strongly and how far in
time it claims the three groups of articulators (jaw, lips, tongue): its *dominance* in the sense of
Cohen and Massaro, "Modeling coarticulation in synthetic visual speech" (Models and Techniques in Computer
Animation, 1993). Sounds that look alike on the face (p b m; t d n; k g) share a row, as visemes do
(Fisher, "Confusions among visually perceived consonants", 1968).

Values were set by hand from the phonetic descriptions in Ladefoged and Johnson, "A Course in Phonetics".
"""

from dataclasses import dataclass, field
from typing import Final

GROUPS: Final = ("jaw", "lips", "tongue")

# Control -> group. `lipClose` is the share of the jaw's opening that the lips make up for: 1 seals them.
CONTROLS: Final[dict[str, str]] = {
    "jawOpen": "jaw",
    "jawForward": "jaw",
    "lipClose": "lips",
    "mouthFunnel": "lips",
    "mouthPucker": "lips",
    "mouthSmile": "lips",
    "mouthStretch": "lips",
    "mouthLowerDown": "lips",
    "mouthUpperUp": "lips",
    "mouthRollLower": "lips",
    "mouthRollUpper": "lips",
    "mouthPress": "lips",
    "mouthShrugLower": "lips",
    "tongueOut": "tongue",
}
CONTROL_INDEX: Final[dict[str, int]] = {name: i for i, name in enumerate(CONTROLS)}


@dataclass(frozen=True, slots=True)
class Dominance:
    """How a sound claims a group of articulators.

    Attributes:
        strength: Weight while the sound lasts, above 0.
        rate: Decay of the weight per second outside the sound; small means far-reaching coarticulation.
    """

    strength: float
    rate: float


@dataclass(frozen=True, slots=True)
class Articulation:
    """One row of the table.

    Attributes:
        name: Name of the row; for sounds, its most typical IPA symbol.
        symbols: IPA code points that take this row.
        targets: Control -> value in [0, 1]; a control not named has target 0.
        jaw: Dominance over the jaw.
        lips: Dominance over the lips.
        tongue: Dominance over the tongue tip.
        vowel: True for sounds that carry stress.
        hold: Controls that must reach their target while the sound lasts, whatever its neighbours want.
    """

    name: str
    symbols: str
    targets: dict[str, float] = field(default_factory=dict[str, float])
    jaw: Dominance = Dominance(1.0, 22.0)
    lips: Dominance = Dominance(1.0, 20.0)
    tongue: Dominance = Dominance(0.6, 28.0)
    vowel: bool = False
    hold: tuple[str, ...] = ()


def _vowel(name: str, symbols: str, targets: dict[str, float], *, weight: float = 1.0, reach: float = 20.0):
    return Articulation(
        name, symbols, targets, jaw=Dominance(weight, 22.0), lips=Dominance(weight, reach), vowel=True
    )


_LIP_CONTROLS: Final = tuple(name for name, group in CONTROLS.items() if group == "lips")
# Rounding may stay through a closure ("boot"); everything else about the lips is the closure's own.
_CLOSURE: Final = tuple(name for name in _LIP_CONTROLS if name != "mouthPucker")

SILENCE: Final = Articulation(
    "silence", "", jaw=Dominance(1.0, 16.0), lips=Dominance(1.0, 16.0), tongue=Dominance(1.0, 28.0)
)

TABLE: Final[tuple[Articulation, ...]] = (
    SILENCE,
    # Vowels: jaw from close to open; spread lips in front, rounded lips at the back.
    _vowel("i", "i", {"jawOpen": .13, "mouthSmile": .34, "mouthStretch": .26, "mouthLowerDown": .20,
                      "mouthUpperUp": .12}),
    _vowel("ɪ", "ɪᵻɨ", {"jawOpen": .18, "mouthSmile": .20, "mouthStretch": .16, "mouthLowerDown": .15,
                        "mouthUpperUp": .08}, weight=.85),
    _vowel("ɛ", "eɛεɘ", {"jawOpen": .31, "mouthSmile": .18, "mouthStretch": .16, "mouthLowerDown": .18,
                         "mouthUpperUp": .10}),
    _vowel("æ", "æ", {"jawOpen": .42, "mouthSmile": .20, "mouthStretch": .20, "mouthLowerDown": .22,
                      "mouthUpperUp": .14}),
    _vowel("ɑ", "aɑ", {"jawOpen": .56, "mouthLowerDown": .14, "mouthUpperUp": .08}),
    _vowel("ʌ", "ʌɐɤ", {"jawOpen": .36, "mouthLowerDown": .12, "mouthUpperUp": .06}),
    _vowel("ə", "əɯɰ", {"jawOpen": .20, "mouthLowerDown": .08, "mouthUpperUp": .03}, weight=.45),
    _vowel("ɚ", "ɚɜɝ˞", {"jawOpen": .20, "mouthFunnel": .24, "mouthPucker": .18}, reach=16.0),
    _vowel("ɔ", "ɔɒɶ", {"jawOpen": .42, "mouthFunnel": .32, "mouthPucker": .14}, reach=16.0),
    _vowel("o", "oøœɵɞ", {"jawOpen": .30, "mouthFunnel": .34, "mouthPucker": .48}, reach=14.0),
    _vowel("ʊ", "ʊʏ", {"jawOpen": .18, "mouthFunnel": .22, "mouthPucker": .46}, weight=.9, reach=14.0),
    _vowel("u", "uyʉ", {"jawOpen": .13, "mouthFunnel": .20, "mouthPucker": .78}, reach=13.0),
    # Consonants made with the lips.
    Articulation("p", "pbmɓʙʘ", {"jawOpen": .08, "lipClose": 1.0, "mouthPress": .16, "mouthRollLower": .10,
                                 "mouthRollUpper": .06}, jaw=Dominance(1.6, 26.0), hold=_CLOSURE),
    Articulation("f", "fvɱʋⱱβɸ", {"jawOpen": .11, "lipClose": .30, "mouthRollLower": .62,
                                  "mouthUpperUp": .40, "mouthShrugLower": .10},
                 jaw=Dominance(1.6, 26.0), hold=("jawOpen", *_CLOSURE)),
    Articulation("w", "wʍɥ", {"jawOpen": .09, "mouthPucker": .82, "mouthFunnel": .10},
                 jaw=Dominance(1.1, 22.0), lips=Dominance(1.6, 14.0)),
    # Consonants made with the tongue: the lips mostly follow the vowels around them.
    Articulation("θ", "θð", {"jawOpen": .16, "mouthLowerDown": .16, "mouthUpperUp": .08, "tongueOut": .30},
                 jaw=Dominance(1.1, 24.0), lips=Dominance(.5, 24.0), tongue=Dominance(2.0, 34.0)),
    Articulation("t", "tdnɾɗɖʈɳɲcɟrɺɽǀǂǃʄ", {"jawOpen": .12, "mouthLowerDown": .14, "mouthUpperUp": .05},
                 jaw=Dominance(.9, 26.0), lips=Dominance(.22, 26.0)),
    Articulation("l", "lɫɭɬɮʎʟǁ", {"jawOpen": .19, "mouthLowerDown": .12, "tongueOut": .06},
                 jaw=Dominance(.8, 24.0), lips=Dominance(.22, 24.0)),
    Articulation("s", "szʦ", {"jawOpen": .05, "mouthSmile": .12, "mouthStretch": .20, "mouthLowerDown": .26,
                              "mouthUpperUp": .14}, jaw=Dominance(1.7, 26.0), lips=Dominance(.6, 24.0)),
    Articulation("ʃ", "ʃʒʂʐɕʑɧ", {"jawOpen": .06, "jawForward": .08, "mouthFunnel": .46, "mouthPucker": .22,
                                  "mouthLowerDown": .14, "mouthUpperUp": .14},
                 jaw=Dominance(1.7, 26.0), lips=Dominance(1.2, 18.0)),
    Articulation("k", "kgɡŋxɣqɢχʁʀɴɠʛX", {"jawOpen": .18, "mouthLowerDown": .08},
                 jaw=Dominance(.6, 26.0), lips=Dominance(.12, 26.0)),
    Articulation("h", "hɦħʕʔʜʢʡ", {"jawOpen": .20}, jaw=Dominance(.15, 26.0), lips=Dominance(.08, 26.0)),
    Articulation("ɹ", "ɹɻ", {"jawOpen": .14, "mouthFunnel": .28, "mouthPucker": .26},
                 jaw=Dominance(.9, 22.0), lips=Dominance(.9, 18.0)),
    Articulation("j", "jʝ", {"jawOpen": .12, "mouthSmile": .26, "mouthStretch": .20, "mouthLowerDown": .14},
                 jaw=Dominance(1.0, 24.0), lips=Dominance(.7, 20.0)),
)  # fmt: skip

BY_NAME: Final[dict[str, Articulation]] = {row.name: row for row in TABLE}
BY_SYMBOL: Final[dict[str, Articulation]] = {symbol: row for row in TABLE for symbol in row.symbols}
