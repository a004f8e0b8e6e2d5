#version 450
// Lists the tiles that each splat touches, nearest splat first. What finds no room is the farthest.
#include "tiling.glsl"
layout(local_size_x = GROUP) in;

layout(std430, binding = 0) readonly buffer Order { uint order[]; };
layout(std430, binding = 1) readonly buffer Touched { uint touched[]; };
layout(std430, binding = 2) readonly buffer Sums { uint sums[]; };  // entries before each block
layout(std430, binding = 4) readonly buffer Footprints { Footprint footprints[]; };
layout(std430, binding = 5) writeonly buffer Keys { uint keys[]; };      // tile
layout(std430, binding = 6) writeonly buffer Members { uint members[]; };  // footprint

uniform uint ranks;  // splats in the order
uniform uint count;  // splats
uniform uint eye_count;
uniform uint capacity;
uniform ivec4 tiles;  // across and down, of each eye

shared uint scanned[GROUP];

void main() {
    uint rank = gl_GlobalInvocationID.x, local = gl_LocalInvocationIndex;
    uint i = rank < ranks ? order[rank] : 0u;
    uvec2 own = uvec2(0u);
    if (rank < ranks) own = uvec2(touched[i], eye_count > 1u ? touched[count + i] : 0u);
    scanned[local] = own.x + own.y;
    barrier();
    for (uint step = 1u; step < GROUP; step <<= 1) {
        uint add = local >= step ? scanned[local - step] : 0u;
        barrier();
        scanned[local] += add;
        barrier();
    }
    uint at = sums[gl_WorkGroupID.x] + scanned[local] - own.x - own.y;
    for (uint e = 0u; e < eye_count; ++e) {
        // Counted before by another program: an entry that it saw otherwise must not move the rest.
        uint end = min(at + own[e], capacity);
        if (own[e] > 0u) {
            Footprint f = footprints[e * count + i];
            ivec2 across_down = e == 0u ? tiles.xy : tiles.zw;
            int first = e == 0u ? 0 : tiles.x * tiles.y;
            ivec4 box = tile_box(f, across_down);
            uint next = at;
            for (int y = box.y; y <= box.w; ++y)
                for (int x = box.x; x <= box.z; ++x)
                    if (next < end && touches(f, ivec2(x, y))) {
                        keys[next] = uint(first + y * across_down.x + x);
                        members[next++] = e * count + i;
                    }
            for (; next < end; ++next) keys[next] = uint(tiles.x * tiles.y + tiles.z * tiles.w);
        }
        at += own[e];
    }
}
