#version 450
// One workgroup per tile of any eye: blends its splats front to back in registers, ROWS pixels of a column per invocation,
// and stops where nothing behind shows. With SUBGROUPS of 32 each takes a block of the tile, and looks first which
// of the tile's splats touch that block, one invocation for each splat.
#include "tiling.glsl"
const uint GROUP = uint(TILE_WIDTH * TILE_HEIGHT / ROWS);
layout(local_size_x = TILE_WIDTH * TILE_HEIGHT / ROWS) in;

layout(std430, binding = 4) readonly buffer Footprints { Footprint footprints[]; };
layout(std430, binding = 5) readonly buffer Ranges { uint ranges[]; };
layout(std430, binding = 6) readonly buffer Members { uint members[]; };

// For tests: up to which entry of its list each tile was blended.
#ifdef VISITS
layout(std430, binding = 7) buffer Visits { uint visits[]; };
uint visited = 0u;
#define VISIT(entry) visited = (entry) + 1u
#else
#define VISIT(entry)
#endif

layout(binding = 0) uniform sampler2D behind[2];                 // of each eye
layout(binding = 0) writeonly uniform image2D pictures[2];  // the same textures

uniform ivec4 tiles;     // across and down, of each eye
uniform uint filled[2];  // 1: what is behind is one colour
uniform vec4 fills[2];

const float OPAQUE = 1.0 / 1024.0;  // what is behind changes no pixel by more than a quarter of a step

shared vec4 batch_form[GROUP];   // xx, 2 xy, yy, peak
shared vec4 batch_color[GROUP];  // rgb
shared vec2 batch_center[GROUP];
shared uint open_pixels;

void blend(uint k, vec2 pixel, inout vec4 sum[ROWS], inout float clearest) {
    vec4 form = batch_form[k];
    vec3 color = batch_color[k].rgb;
    vec2 offset = pixel - batch_center[k];
    float across = form.w - form.x * offset.x * offset.x, mixed = form.y * offset.x;
    clearest = 0.0;
    for (int r = 0; r < ROWS; ++r) {
        float exponent = across - offset.y * (mixed + form.z * offset.y);
        if (exponent >= LOG2_MIN_ALPHA) {
            float weight = exp2(exponent) * sum[r].w;
            sum[r].rgb += weight * color;
            sum[r].w -= weight;
        }
        offset.y += 1.0;
        clearest = max(clearest, sum[r].w);
    }
}

void main() {
    uint local = gl_LocalInvocationIndex, entry = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (entry >= uint(tiles.x * tiles.y + tiles.z * tiles.w)) return;
    bool second = entry >= uint(tiles.x * tiles.y);
    uint tile = second ? entry - uint(tiles.x * tiles.y) : entry;
    uint tiles_across = uint(second ? tiles.z : tiles.x);
#ifdef SUBGROUPS
    uint block = gl_SubgroupID, lane = gl_SubgroupInvocationID;
#else
    uint block = local / 32u, lane = local % 32u;
#endif
    // Blocks 8 wide, so that invocations that run together see about the same splats.
    const uint blocks = uint(TILE_WIDTH) / 8u;
    ivec2 corner = ivec2(tile % tiles_across, tile / tiles_across) * TILE + ivec2(8u * (block % blocks), 4u * ROWS * (block / blocks));
    ivec2 first = corner + ivec2(lane % 8u, lane / 8u * ROWS);
    vec2 pixel = vec2(first) + 0.5;
    vec4 sum[ROWS];  // premultiplied colour; in w what still shines through
    for (int r = 0; r < ROWS; ++r) sum[r] = vec4(0.0, 0.0, 0.0, 1.0);
    float clearest = 1.0;

    uint start = ranges[2u * entry], end = ranges[2u * entry + 1u];
    for (uint begin = start; begin < end; begin += GROUP) {
        if (local == 0u) open_pixels = 0u;
        barrier();
        if (clearest > OPAQUE) open_pixels = 1u;
        if (begin + local < end) {
            Footprint f = footprints[members[begin + local]];
            batch_center[local] = f.center;
            batch_form[local] = vec4(f.form_xx, 2.0 * f.form_xy, f.form_yy, f.peak);
            batch_color[local] = vec4(vec3(f.color & 1023u, f.color >> 10 & 1023u, f.color >> 20) / 1023.0, 0.0);
        }
        barrier();
        if (open_pixels == 0u) break;
        uint size = min(GROUP, end - begin);
#ifdef SUBGROUPS
        vec2 low = vec2(corner) + 0.5, high = low + vec2(7.0, 4.0 * ROWS - 1.0);
        for (uint k = 0u; k < size && subgroupAny(clearest > OPAQUE); k += 32u) {
            uint own = min(k + lane, size - 1u);
            float least = least_growth(batch_form[own], low - batch_center[own], high - batch_center[own]);
            bool near = k + lane < size && least <= (batch_form[own].w - LOG2_MIN_ALPHA) * 1.001;
            for (uint touching = subgroupBallot(near).x; touching != 0u; touching &= touching - 1u) {
                VISIT(begin + k + findLSB(touching) - start);
                blend(k + findLSB(touching), pixel, sum, clearest);
            }
        }
#else
        for (uint k = 0u; k < size && clearest > OPAQUE; ++k) {
            VISIT(begin + k - start);
            blend(k, pixel, sum, clearest);
        }
#endif
        barrier();
    }
#ifdef VISITS
    atomicMax(visits[entry], visited);
#endif
    ivec2 size = second ? imageSize(pictures[1]) : imageSize(pictures[0]);
    for (int r = 0; r < ROWS; ++r) {
        ivec2 at = first + ivec2(0, r);
        if (at.x >= size.x || at.y >= size.y) continue;
        // Not by an index: arrays of images need one that the compiler can prove to be uniform.
        if (second) {
            vec4 under = filled[1] == 1u ? fills[1] : texelFetch(behind[1], at, 0);
            imageStore(pictures[1], at, vec4(sum[r].rgb, 1.0 - sum[r].w) + sum[r].w * under);
        } else {
            vec4 under = filled[0] == 1u ? fills[0] : texelFetch(behind[0], at, 0);
            imageStore(pictures[0], at, vec4(sum[r].rgb, 1.0 - sum[r].w) + sum[r].w * under);
        }
    }
}
