"""Audio that is no speech but moves like it."""

import numpy as np

RATE = 16_000


def babble(seconds: int, seed: int, pause: tuple[int, int] = (0, 0)) -> np.ndarray:
    """Harmonics of a gliding pitch under changing loudness and timbre, with noise.

    Args:
        seconds: Length.
        seed: Of loudness and noise.
        pause: Seconds from and to which it is almost silent.

    Returns:
        float32 [seconds * 16000] in [-1, 1].
    """
    random = np.random.default_rng(seed)
    n = seconds * RATE
    t = np.arange(n) / RATE
    loudness = np.repeat(random.uniform(0, 1, seconds * 5) ** 2, RATE // 5)
    loudness = np.convolve(loudness, np.hanning(1601) / 800, "same")
    phase = 2 * np.pi * np.cumsum(120 * np.exp(0.3 * np.sin(2 * np.pi * 0.7 * t))) / RATE
    timbre = [0.5 + 0.5 * np.sin(2 * np.pi * t * (0.5 + 0.13 * k) + k) for k in range(1, 20)]
    voice = sum(np.sin(k * phase) * level / k for k, level in enumerate(timbre, 1))
    x = voice * loudness * 0.1 + random.standard_normal(n) * 0.003
    start, end = pause[0] * RATE, pause[1] * RATE
    x[start:end] = random.standard_normal(end - start) * 1e-4
    return x.astype(np.float32)
