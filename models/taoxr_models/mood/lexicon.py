"""Words that tell a mood, and words that change what such words tell. Written for this project."""

from typing import Final

_STRONG: Final = 1.0
_MILD: Final = 0.55


def _words(strong: str, mild: str = "") -> dict[str, float]:
    return dict.fromkeys(mild.split(), _MILD) | dict.fromkeys(strong.split(), _STRONG)


JOY: Final = _words(
    strong="""
        amazing awesome beautiful brilliant celebrate congratulations delighted delightful excellent excited
        exciting fantastic fun glad gorgeous great happy happily happiest happiness hooray joy joyful laugh
        laughing love loved lovely loving magnificent marvelous marvellous perfect superb thrilled wonderful
        wonderfully yay
    """,
    mild="""
        beauty best better bravo charming cheer cheerful comfortable cool cute delicious enjoy enjoyed
        enjoying fine friend friendly friends fresh gentle good grateful hello helpful hi hope hopefully hug
        interesting kind like luckily lucky nice peaceful play playful playing please pleased pleasant
        pleasure pretty proud safe smile smiling succeed success sunny sure sweet thank thanks treat warm
        welcome well win winning won wow yes
    """,
)
SADNESS: Final = _words(
    strong="""
        cried cry crying dead death depressed depressing died dies devastated grief grieve grieving
        heartbroken hopeless lonely loneliness miserable misery mourn mourning sad sadly sadness sorrow
        sorry tears tragedy tragic unhappy
    """,
    mild="""
        alone bad broken disappointed disappointing dull empty fail failed failure goodbye gone hurt hurts
        ill ache lose losing loss lost miss missed missing pain painful pity poor regret rough sick sigh
        suffer suffering terrible tired unfortunately unlucky upset weak worse worst wrong
    """,
)
SURPRISE: Final = _words(
    strong="""
        amazed astonished astonishing astounding incredible incredibly shocked shocking surprise surprised
        surprising surprisingly unbelievable unexpected unexpectedly wow
    """,
    mild="curious extraordinary imagine odd oh remarkable strange suddenly unusual weird whoa wonder",
)
WORRY: Final = _words(
    strong="""
        afraid alarming anxious anxiety danger dangerous dread fear fearful fears frightened frightening
        horrible nervous panic scared scary terrified terrifying threat threatening worried worries worry
        worrying
    """,
    mild="""
        careful caution concern concerned concerning deadly difficult difficulty doubt emergency fail hard
        harm harmful nightmare poison poisonous problem problems risk risky serious storm stress stressed
        stressful trouble troubled uncertain unsafe warning war
    """,
)

NEGATIONS: Final = frozenset(
    _words(
        strong="""
            ain't aren't can't cannot couldn't didn't doesn't don't hadn't hardly hasn't haven't isn't never
            no nobody none nor not nothing scarcely shouldn't wasn't weren't without won't wouldn't
        """
    )
)
STRONGER: Final = frozenset(
    _words("absolutely completely deeply especially extremely incredibly really so such totally truly very")
)
WEAKER: Final = frozenset(_words("almost bit fairly less little partly quite rather slightly somewhat"))
TURNS: Final = frozenset(("but", "however", "yet", "although", "though"))
"""What comes after one of these is what counts."""
