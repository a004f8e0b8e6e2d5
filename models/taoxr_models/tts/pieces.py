"""Networks of convolutions over time, run piece by piece with the result of one run over the whole."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import Module

Array = NDArray[np.float32]


class Net:
    """A network that maps ``[1, c, t]`` to ``[1, d, factor * t]``.

    Args:
        module: The network. Its further inputs do not depend on time.
        margin: Input steps on both sides of a span that the output of the span depends on.
        factor: Output steps per input step.
        constants: How many further inputs there are.
    """

    def __init__(self, module: Module, margin: int, factor: int, constants: int = 0) -> None:
        self.module = module
        self.margin = margin
        self.factor = factor
        self.constants = constants


class Source(Protocol):
    """Values over time.

    Attributes:
        frames: Length.
        rate: Steps per frame.
    """

    frames: int
    rate: int

    def span(self, begin: int, end: int) -> Array:
        """Values ``[1, c, end - begin]`` of the steps from `begin` to `end`."""
        ...


class Given:
    """Values that are all there: ``[1, c, frames]``."""

    def __init__(self, values: Array) -> None:
        self._values = values
        self.frames = values.shape[-1]
        self.rate = 1

    def span(self, begin: int, end: int) -> Array:
        """See `Source`."""
        return self._values[..., begin:end]


class Computed:
    """What a network makes of a source, computed as far as it was asked for, in order.

    A piece is computed with the network's margin of input on both sides, or up to the ends of the
    source, where the network pads as it does in one run over the whole. So the values are those of that
    run, but for the order of float additions.

    Args:
        net: The network.
        source: Its input.
        constants: What its further inputs are taken from, from the first.
        first: Frames that the first run computes at least.
        least: Frames that the others compute at least; margins cost less in long pieces. Less than half of
            that is not left for a run of its own.
        most: Frames of one run of the network; what is wide fits into the cache only in short ones.

    Attributes:
        frames: Length.
        rate: Steps per frame.
    """

    def __init__(
        self,
        net: Net,
        source: Source,
        constants: tuple[Array, ...] = (),
        *,
        first: int = 1,
        least: int = 1,
        most: int = 1 << 30,
    ) -> None:
        self.frames = source.frames
        self.rate = source.rate * net.factor
        self._net = net
        self._source = source
        self._constants = constants[: net.constants]
        self._least = (first, least)
        self._most = most
        self._made: list[tuple[int, Array]] = []
        self._end = 0

    def sees(self, end: int) -> int:
        """The frame up to which the source is needed for this to be there up to frame `end`."""
        return min(self.frames, end + -(-self._net.margin // self._source.rate))

    def extend(self, end: int) -> bool:
        """Computes up to frame `end`, if that is not yet done; returns whether there was work."""
        if min(end, self.frames) <= self._end:
            return False
        least = self._least[self._end > 0]
        end = max(end, self._end + least)
        if self.frames - end < least // 2:
            end = self.frames
        runs = -(-(end - self._end) // self._most)
        size = -(-(end - self._end) // runs)
        while self._end < end:
            self._compute(min(end, self._end + size))
        return True

    def _compute(self, end: int) -> None:
        source, net = self._source, self._net
        start = self._end * source.rate
        begin = max(0, start - net.margin)
        values = source.span(begin, min(self.frames * source.rate, end * source.rate + net.margin))
        made = net.module.run(np.ascontiguousarray(values), *self._constants)[0]
        made = made.reshape(1, -1, values.shape[-1] * net.factor)
        told = slice((start - begin) * net.factor, (end * source.rate - begin) * net.factor)
        self._made.append((self._end * self.rate, made[..., told]))
        self._end = end

    def span(self, begin: int, end: int) -> Array:
        """See `Source`; computes what is missing."""
        self.extend(-(-end // self.rate))
        touched = [
            made[..., max(0, begin - start) : end - start]
            for start, made in self._made
            if start < end and start + made.shape[-1] > begin
        ]
        return touched[0] if len(touched) == 1 else np.concatenate(touched, axis=-1)
