"""A stable sort on the GPU, of 32-bit keys and their values.

Least significant digit first; a pass counts the digits of each block of keys, sums the counts over the blocks
and scatters (Merrill and Grimshaw, "High Performance and Scalable Radix Sorting", 2011). NumPy's twin is
``argsort(kind="stable")``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from taoxr.errors import InvalidInputError
from taoxr_runtime.render import gl, objects

_SUBGROUPS: Final = ("GL_KHR_shader_subgroup",)
BALLOTS: Final = (
    "GL_KHR_shader_subgroup_basic",
    "GL_KHR_shader_subgroup_ballot",
    "GL_KHR_shader_subgroup_vote",
)
"""What shaders need for ballots among the invocations of a subgroup."""
_SUBGROUP_SIZE: Final = 0x9532  # GL_SUBGROUP_SIZE_KHR
_SCAN_GROUP: Final = 256
ARGUMENTS: Final = 16
"""Where in a `Count` the sizes of a dispatch lie, in bytes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How the work is cut up; results do not depend on it.

    Attributes:
        digit_bits: Bits sorted by one pass.
        group: Invocations of a workgroup.
        items: Keys of one invocation.
        subgroups: Invocations of a subgroup; 0 works without the extension.
    """

    digit_bits: int = 4
    group: int = 256
    items: int = 8
    subgroups: int = 0

    @property
    def block(self) -> int:
        """Keys of a workgroup."""
        return self.group * self.items

    def __post_init__(self) -> None:
        if 1 << self.digit_bits > self.group or self.block > 0xFFFF:
            raise InvalidInputError("plan", self, "digits and blocks that fit a workgroup and 16 bits")


def subgroup_size() -> int:
    """Invocations of a subgroup, or 0 where the driver has no ballots between them."""
    if not gl.has_extensions(*_SUBGROUPS):
        return 0
    size = gl.integer(_SUBGROUP_SIZE)
    return size if size >= 8 else 0


def default_plan() -> Plan:
    """A plan that the current context can run: wide digits where there are subgroups."""
    size = subgroup_size()
    return Plan(8, 256, 8, size) if size else Plan()


class Count:
    """How many keys there are, held on the GPU where a shader may have put it, with the sizes of dispatches.

    Words: count, how many there would be if all had found room, 2 unused, then the numbers of workgroups in
    x, y and z, 1 unused.
    """

    def __init__(self) -> None:
        self.buffer = objects.Buffer()
        self.buffer.reserve(32)

    def set(self, count: int, block: int) -> None:
        """Set it from the CPU."""
        self.buffer.write(np.array([count, 0, 0, 0, max(-(-count // block), 1), 1, 1, 0], np.uint32))

    def release(self) -> None:
        """Delete it."""
        self.buffer.release()


class RadixSort:
    """Programs and scratch space of the sort; needs a current context.

    Args:
        plan: How the work is cut up; by default what suits the driver.

    Raises:
        GlError: The driver refuses a shader.
    """

    def __init__(self, plan: Plan | None = None) -> None:
        self.plan = plan = default_plan() if plan is None else plan
        defines = {"GROUP": plan.group, "ITEMS": plan.items, "DIGIT_BITS": plan.digit_bits}
        scan = {"GROUP": _SCAN_GROUP}
        self._count_program = objects.Program("radix_count.comp", defines=defines)
        self._scan = objects.Program("radix_scan.comp", defines=scan)
        extensions: tuple[str, ...] = ()
        if plan.subgroups:
            defines |= {"SUBGROUPS": plan.subgroups}
            extensions = BALLOTS
        self._scatter = objects.Program("radix_scatter.comp", defines=defines, extensions=extensions)
        self._tallies, self._totals = objects.Buffer(), objects.Buffer()
        self._scratch = objects.Buffer(), objects.Buffer()

    def sort(
        self, keys: objects.Buffer, values: objects.Buffer, count: Count, capacity: int, bits: int = 32
    ) -> tuple[objects.Buffer, objects.Buffer]:
        """Sort by the low bits of the keys.

        Args:
            keys: uint32 [capacity]; what it holds after is undefined.
            values: uint32 [capacity], likewise.
            count: How many of them there are; at most ``capacity``.
            capacity: What the buffers have room for.
            bits: Sort by so many low bits; the others must be zero.

        Returns:
            Where keys and values are, sorted: the buffers given, or scratch space that the next sort uses.
        """
        plan = self.plan
        stride = max(-(-capacity // plan.block), 1)
        radix = 1 << plan.digit_bits
        self._tallies.reserve(radix * stride * 4)
        self._totals.reserve(radix * 4)
        for buffer in self._scratch:
            buffer.reserve(max(capacity, 1) * 4)
        for program in (self._count_program, self._scan, self._scatter):
            program.set_uint("stride", stride)
        count.buffer.bind_indirect()
        source, target = (keys, values), self._scratch
        for shift in range(0, bits, plan.digit_bits):
            objects.bind_storage(0, count.buffer, *source, *target, self._tallies, self._totals)
            for program in (self._count_program, self._scatter):
                program.set_uint("shift", shift)
            self._count_program.use()
            objects.dispatch_indirect(ARGUMENTS)
            self._scan.use()
            gl.dispatch(radix)
            self._scatter.use()
            objects.dispatch_indirect(ARGUMENTS)
            source, target = target, source
        return source

    def release(self) -> None:
        """Delete everything from the GPU."""
        for buffer in (self._tallies, self._totals, *self._scratch):
            buffer.release()
        for program in (self._count_program, self._scan, self._scatter):
            program.release()
