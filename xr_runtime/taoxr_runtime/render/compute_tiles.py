"""The rasterizer for GPUs: everything from projection to the picture in compute programs.

One sort of the splats by distance serves all eyes. Each splat then lists the tiles that it touches, nearest
splat first, and a stable sort of that list by tile leaves every tile's splats in order: the same picture
every time, whatever runs first. Tiles are those of Kerbl et al., "3D Gaussian Splatting" (2023); that an
ellipse rather than its box decides which it touches is from Feng et al., "FlashGS" (2024).

NumPy's twins are ``reference.project`` and ``tiles.tile_lists``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.render import gl, objects
from taoxr_runtime.render.camera import View
from taoxr_runtime.render.canvas import Canvas
from taoxr_runtime.render.footprints import MAX_EYES, set_eyes
from taoxr_runtime.render.pipeline import Color, unmarked
from taoxr_runtime.render.radix import ARGUMENTS, BALLOTS, Count, Plan, RadixSort, subgroup_size
from taoxr_runtime.render.sorting import LastSort
from taoxr_runtime.render.splat_buffers import SplatBuffers

_GROUP: Final = 256
_PROJECT_GROUP: Final = 128
_WORDS: Final = 8  # of a footprint
_FIRST_CAPACITY: Final = 1 << 20
_MAX_CAPACITY: Final = 1 << 27


_KEY_BITS: Final = 24
# The bits of a positive float sort as it does. Its exponent takes 8, of which squared distances from 2^-14 to
# 2^18 square metres use 5: so the mantissa keeps 19.
_KEY: Final = ((127 - 14) << 23, (1 << 28) - 1, 4)


@dataclass(frozen=True, slots=True)
class TileShape:
    """How the picture is cut up; it does not depend on it.

    Attributes:
        width: Of a tile in pixels, a multiple of 8.
        height: The same.
        rows: Pixels of a column that one invocation blends.
    """

    width: int = 16
    height: int = 16
    rows: int = 2


class ComputeTiles:
    """Programs and buffers of the rasterizer; needs a current context.

    A `Pipeline`: one program blends the tiles of both eyes. Splats are sorted by 24 bits of their distance,
    which tell 1.4 micrometres apart at 1.5 m, from 8 mm to 512 m, in three passes.

    Args:
        shape: Of the tiles.
        plan: Of the sort.
        count_visits: For tests: count what is blended, see `visits`.

    Raises:
        GlError: The driver refuses a shader.
    """

    def __init__(
        self, shape: TileShape | None = None, plan: Plan | None = None, count_visits: bool = False
    ) -> None:
        self.shape = shape = TileShape() if shape is None else shape
        self._sort = RadixSort(plan)
        tile = {"TILE_WIDTH": shape.width, "TILE_HEIGHT": shape.height}
        group = {"GROUP": _GROUP}
        self._items = -(-self._sort.plan.block // _GROUP)
        self._project = objects.Program("tile_project.comp", defines=tile)
        self._sum = objects.Program("tile_sum.comp", defines=group)
        self._offsets = objects.Program("tile_offsets.comp", defines=group)
        self._list = objects.Program("tile_list.comp", defines=tile | group)
        self._range = objects.Program("tile_ranges.comp", defines=group | {"ITEMS": self._items})
        blocks = {"SUBGROUPS": 32} if subgroup_size() == 32 else {}
        self._counts = {"VISITS": 1} if count_visits else {}
        self._blend = objects.Program(
            "tile_blend.comp",
            defines=tile | {"ROWS": shape.rows} | blocks | self._counts,
            extensions=BALLOTS if blocks else (),
        )
        names = (
            "footprints",
            "touched",
            "keys",
            "values",
            "order",
            "given",
            "sums",
            "tiles",
            "members",
            "ranges",
            "visits",
        )
        self._work = {name: objects.Buffer() for name in names}
        self._splat_count, self._entries = Count(), Count()
        self._last_sort = LastSort()
        self._listed: objects.Buffer | None = None
        self._across_down: list[tuple[int, int]] = []
        # What a shader sees of a buffer, and what the sort can cut up.
        groups = gl.most_groups() * self._sort.plan.block
        self._most = min(_MAX_CAPACITY, gl.storage_block_bytes() // 4, groups)
        self._capacity = min(_FIRST_CAPACITY, self._most)
        self._wanted = objects.Mailbox(1)
        self._counted = -1
        self._known: tuple[object, ...] = ()
        self.mark: Callable[[str], None] = unmarked

    def prepare(
        self,
        splats: SplatBuffers,
        views: Sequence[View],
        viewpoint: NDArray[np.float64],
        order: NDArray[np.uint32] | None = None,
        wait: bool = True,
    ) -> None:
        """Project the splats, sort them, and list those of each tile.

        Args:
            splats: What to draw.
            views: 1 to ``MAX_EYES`` eyes.
            viewpoint: float64 [3], what distances are measured from.
            order: uint32 [K], farthest first, in place of the order by distance.
            wait: Until the GPU knows that the list has room for all. Without that, a frame in which suddenly
                half as many splats again touch tiles as in the frame before lacks the farthest ones.

        Raises:
            InvalidInputError: So many splats touch so many tiles that no buffer holds the list.
        """
        width, height = self.shape.width, self.shape.height
        self._across_down = [(-(-view.width // width), -(-view.height // height)) for view in views]
        if not splats.count:
            self._listed = None
            return
        self._run_project(splats, views, viewpoint)
        self.mark("project")
        if order is None:
            if self._last_sort.outdated(splats.place_number, viewpoint):
                self._run_sort(splats.count)
            ordered, ranks = self._work["order"], splats.count
        else:
            ordered, ranks = self._work["given"], len(order)
            ordered.write(order[::-1])
        self.mark("sort")
        known = splats.count, *self._across_down
        wait = wait or known != self._known
        self._known = known
        self._grow(self._wanted.receive(wait))
        self._run_list(ordered, ranks, splats.count, len(views))
        while wait and self._grow(self._wanted.receive(wait=True)):
            self._run_list(ordered, ranks, splats.count, len(views))
        self.mark("list")
        self._run_ranges(len(views))
        self.mark("sort tiles")

    @property
    def sorts(self) -> int:
        """See `Pipeline.sorts`."""
        return self._last_sort.count

    def raster(self, canvases: Sequence[Canvas], fills: Sequence[Color | None]) -> None:
        """Blend the splats of all views prepared in one dispatch, over a colour or over what a canvas holds.

        Args:
            canvases: Of the views' sizes.
            fills: Colours behind the splats, sRGB-encoded and premultiplied; clearing a canvas before would
                cost more than half of the drawing on an H200. None for what is there.
        """
        if self._listed is None:
            for canvas, fill in zip(canvases, fills, strict=True):
                if fill is not None:
                    canvas.clear(fill)
            self.mark("blend")
            return
        program = self._blend
        for eye, (canvas, fill) in enumerate(zip(canvases, fills, strict=True)):
            canvas.bind_image(eye)
            program.set_uint(f"filled[{eye}]", int(fill is not None))
            program.set(f"fills[{eye}]", *((0.0, 0.0, 0.0, 0.0) if fill is None else fill))
        objects.bind_storage(4, self._work["footprints"], self._work["ranges"], self._listed)
        if self._counts:
            visits = self._work["visits"]
            visits.reserve(4 * self._tiles(len(canvases)))
            visits.clear()
            objects.bind_storage(7, visits)
        program.set_ints("tiles", *self._both_across_down)
        program.use()
        gl.dispatch(*gl.in_rows(self._tiles(len(canvases))))
        self.mark("blend")

    def visits(self) -> NDArray[np.uint32]:
        """Of each tile, up to which entry of its list it was blended, and how many it has; uint32 [2, tiles].

        Only where counting was asked for; waits for the GPU.
        """
        tiles = self._tiles(len(self._across_down))
        visited, ranges = np.empty(tiles, np.uint32), np.empty((tiles, 2), np.uint32)
        self._work["visits"].read(visited)
        self._work["ranges"].read(ranges)
        return np.stack([visited, ranges[:, 1] - ranges[:, 0]])

    def release(self) -> None:
        """Delete everything from the GPU."""
        for buffer in self._work.values():
            buffer.release()
        programs = (self._project, self._sum, self._offsets, self._list, self._range, self._blend)
        for program in programs:
            program.release()
        for thing in (self._sort, self._splat_count, self._entries, self._wanted):
            thing.release()

    def _tiles(self, eyes: int) -> int:
        """How many tiles the first so many eyes have."""
        return sum(across * down for across, down in self._across_down[:eyes])

    @property
    def _both_across_down(self) -> tuple[int, int, int, int]:
        """Tiles across and down of the first and of the second eye; zeros where there is none."""
        first, second = [*self._across_down, (0, 0)][:2]
        return *first, *second

    def _run_project(
        self, splats: SplatBuffers, views: Sequence[View], viewpoint: NDArray[np.float64]
    ) -> None:
        work, program, count = self._work, self._project, splats.count
        if count != self._counted:
            self._splat_count.set(count, self._sort.plan.block)
            self._counted = count
        per_splat = {"footprints": MAX_EYES * _WORDS, "touched": MAX_EYES, "keys": 1, "values": 1}
        for name, words in per_splat.items():
            work[name].reserve(words * 4 * count)
        objects.bind_storage(0, *splats.all, *(work[name] for name in per_splat))
        set_eyes(program, views)
        program.set_uint("count", count)
        program.set_uint("eye_colors", splats.eye_stride)
        program.set("viewpoint", *viewpoint)
        program.set_uints("key", *_KEY)
        program.use()
        gl.dispatch(-(-count // _PROJECT_GROUP))

    def _run_sort(self, count: int) -> None:
        """Nearest first, kept where the sort by tiles does not write."""
        keys, values, order = (self._work[name] for name in ("keys", "values", "order"))
        found = self._sort.sort(keys, values, self._splat_count, count, _KEY_BITS)[1]
        order.reserve(4 * count)
        found.copy_to(order.name, 0, 4 * count)

    def _run_list(self, ordered: objects.Buffer, ranks: int, count: int, eyes: int) -> None:
        work, blocks = self._work, -(-ranks // _GROUP)
        work["sums"].reserve(max(blocks, 1) * 4)
        for name in ("tiles", "members"):
            work[name].reserve(self._capacity * 4)
        objects.bind_storage(0, ordered, work["touched"], work["sums"], self._entries.buffer)
        objects.bind_storage(4, work["footprints"], work["tiles"], work["members"])
        for program in (self._sum, self._list):
            program.set_uint("ranks", ranks)
            program.set_uint("count", count)
            program.set_uint("eye_count", eyes)
        for program in (self._offsets, self._list):
            program.set_uint("capacity", self._capacity)
        self._offsets.set_uint("blocks", blocks)
        self._offsets.set_uint("block", self._sort.plan.block)
        self._list.set_ints("tiles", *self._both_across_down)
        self._sum.use()
        gl.dispatch(blocks)
        self._offsets.use()
        gl.dispatch(1)
        self._list.use()
        gl.dispatch(blocks)
        self._wanted.send(self._entries.buffer, 4)

    def _run_ranges(self, eyes: int) -> None:
        work, tiles = self._work, self._tiles(eyes)
        # One number more than there are tiles: for entries that turned out to touch none.
        keys, members = self._sort.sort(
            work["tiles"], work["members"], self._entries, self._capacity, tiles.bit_length()
        )
        work["ranges"].reserve(8 * (tiles + 1))
        work["ranges"].clear()
        objects.bind_storage(0, self._entries.buffer, keys, work["ranges"])
        self._range.use()
        objects.dispatch_indirect(ARGUMENTS)  # from the entries, as bound by the sort
        self._listed = members

    def _grow(self, wanted: list[int] | None) -> bool:
        """Make room for what a list would have held; True when it did not hold all of it."""
        if wanted is None:
            return False
        entries = wanted[0]
        if entries > self._most:
            raise InvalidInputError("splats", f"{entries} overlaps with tiles", f"at most {self._most}")
        lacked = entries > self._capacity
        self._capacity = min(max(self._capacity, entries + entries // 2), self._most)
        return lacked
