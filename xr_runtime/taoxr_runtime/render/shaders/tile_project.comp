#version 450
// One splat per invocation: read it once, project it for each eye, count the tiles that it touches, and make the
// key of the sort. Splats that are not seen are sorted, too: the order serves until someone moves, and heads turn.
#include "projection.glsl"
#include "tiling.glsl"
layout(local_size_x = 128) in;

layout(std430, binding = 4) writeonly buffer Footprints { Footprint footprints[]; };  // of each eye
layout(std430, binding = 5) writeonly buffer Touched { uint touched[]; };             // number of tiles, of each eye
layout(std430, binding = 6) writeonly buffer Keys { uint keys[]; };
layout(std430, binding = 7) writeonly buffer Values { uint values[]; };

uniform vec3 viewpoint;
uniform uvec3 key;  // the least bits of a squared distance, the most above them, and how many of the last are dropped

const float HALF_LOG2E = 0.72134752;

Footprint footprint(Ellipse ellipse, vec3 color) {
    vec3 form = HALF_LOG2E / ellipse.determinant * ellipse.covariance.zyx * vec3(1.0, -1.0, 1.0);
    uvec3 rgb = uvec3(clamp(color, 0.0, 1.0) * 1023.0 + 0.5);
    // Halves have 11 bits: a little more, so that no tile is lost.
    uint half_size = packHalf2x16(min(ellipse.half_size * 1.002, vec2(60000.0)));
    uint color_bits = rgb.r | rgb.g << 10 | rgb.b << 20;
    return Footprint(ellipse.center, form.x, form.y, form.z, log2(ellipse.opacity), color_bits, half_size);
}

uint count_tiles(Footprint f, ivec2 tiles) {
    ivec4 box = tile_box(f, tiles);
    uint found = 0u;
    for (int y = box.y; y <= box.w; ++y)
        for (int x = box.x; x <= box.z; ++x)
            if (touches(f, ivec2(x, y))) ++found;
    return found;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    vec3 mean = mean_of(i);
    mat3 world = covariance_of(i);
    for (uint e = 0u; e < eye_count; ++e) {
        Ellipse ellipse;
        uint found = 0u;
        if (project(e, mean, world, opacities[i], ellipse)) {
            Footprint f = footprint(ellipse, color_of(i, e));
            footprints[e * count + i] = f;
            found = count_tiles(f, (ivec2(eyes[e].size) + TILE - 1) / TILE);
        }
        touched[e * count + i] = found;
    }
    // Nearest first; the bits of positive floats sort as they do. From the last splat to the first, so that of two
    // equally far the later one is in front, as when they are drawn in their own order.
    vec3 away = mean - viewpoint;
    uint at = count - 1u - i;
    uint above = max(floatBitsToUint(dot(away, away)), key.x) - key.x;
    keys[at] = min(above, key.y) >> key.z;
    values[at] = i;
}
