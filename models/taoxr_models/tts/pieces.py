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
    """

    def __init__(self, module: Module, margin: int, factor: int) -> None:
        self.module = module
        self.margin = margin
        self.factor = factor


class Source(Protocol):
    """Values over time; the unit of time is the frame.

    Attributes:
        frames: Length.
        rate: Steps per frame.
    """

    frames: int
    rate: int

    def span(self, begin: int, end: int) -> Array:
        """Values ``[1, c, rate * (end - begin)]`` of the frames from `begin` to `end`."""
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
        constants: Its further inputs.
        first: Frames that the first run computes at least.
        least: Frames that the others compute at least; margins cost less in long pieces.
    """

    def __init__(
        self, net: Net, source: Source, constants: tuple[Array, ...] = (), *, first: int = 1, least: int = 1
    ) -> None:
        self.frames = source.frames
        self.rate = source.rate * net.factor
        self._net = net
        self._source = source
        self._constants = constants
        self._least = (first, least)
        self._margin = -(-net.margin // source.rate)  # in whole frames
        self._made: list[tuple[int, Array]] = []
        self._end = 0

    def sees(self, end: int) -> int:
        """The frame up to which the source is needed for this to be there up to `end`."""
        return min(self.frames, end + self._margin)

    def extend(self, end: int) -> bool:
        """Computes up to frame `end`, if that is not yet done; returns whether there was work."""
        if min(end, self.frames) <= self._end:
            return False
        start, least = self._end, self._least[self._end > 0]
        end = min(self.frames, max(end, start + least))
        begin = max(0, start - self._margin)
        values = self._source.span(begin, self.sees(end))
        made = self._net.module.run(np.ascontiguousarray(values), *self._constants)[0]
        made = made.reshape(1, -1, values.shape[-1] * self._net.factor)
        self._made.append((start, made[..., (start - begin) * self.rate : (end - begin) * self.rate]))
        self._end = end
        return True

    def span(self, begin: int, end: int) -> Array:
        """See `Source`; computes what is missing."""
        self.extend(end)
        touched = [
            made[..., max(0, begin - start) * self.rate : (end - start) * self.rate]
            for start, made in self._made
            if start < end and start * self.rate + made.shape[-1] > begin * self.rate
        ]
        return touched[0] if len(touched) == 1 else np.concatenate(touched, axis=-1)
