"""Which voices are trained on, and which are only tested on."""

from typing import Final

KOKORO_VOICES: Final = ("jf_alpha", "jf_nezumi", "jf_tebukuro", "jm_kumo")
TRAINED: Final[dict[str, float]] = {
    "piper-joe": 10.0,
    **{f"kokoro-{v}": 5.0 for v in KOKORO_VOICES},
    **{f"flite-{v}": 6.0 for v in ("rms", "awb", "kal16")},
    **{f"espeak-{v}": 3.0 for v in ("en-us+f2", "en-us+f5", "en-us+m3", "en-us+klatt4")},
}
"""Voices to train on, with minutes of each."""
HELD_OUT: Final[dict[str, float]] = {
    "flite-slt": 2.0,
    "festival-ked_diphone": 2.0,
    "festival-kal_diphone": 2.0,
    "festival-cmu_us_slt_arctic_hts": 2.0,
}
"""Voices to test on: an engine, Festival, that training never hears, and an unheard voice of flite."""
