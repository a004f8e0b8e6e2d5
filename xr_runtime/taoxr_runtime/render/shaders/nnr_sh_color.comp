#version 450
// One splat per invocation: spherical harmonics in the frame of its triangle, for every eye from one load of the coefficients.
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Frames { float frames[]; };
layout(std430, binding = 1) readonly buffer Means { float means[]; };
layout(std430, binding = 2) readonly buffer Compensation { float compensation[]; };
layout(std430, binding = 3) readonly buffer Triangles { uint triangles[]; };  // of each splat
layout(std430, binding = 4) readonly buffer Harmonics { uint harmonics[]; };  // halves, as in nnr_deformer.comp
layout(std430, binding = 5) readonly buffer Normals { uint normals[]; };      // where splats are relit
layout(std430, binding = 6) writeonly buffer Colors { float colors[]; };      // [eyes, pool, 3]

uniform uint count;
uniform uint first;   // of the scene's splats in the pool
uniform uint pooled;  // splats in the pool
uniform uint eyes;
uniform vec3 eye[4];
uniform uint relit;
uniform vec3 irradiance[9];

const float GAMMA = 2.2;

#include "harmonics.glsl"
#include "pairs.glsl"

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    uint k = 9u * triangles[i];
    mat3 to_local = mat3(frames[k], frames[k + 1u], frames[k + 2u], frames[k + 3u], frames[k + 4u], frames[k + 5u], frames[k + 6u], frames[k + 7u], frames[k + 8u]);
    vec3 mean = vec3(means[3u * (first + i)], means[3u * (first + i) + 1u], means[3u * (first + i) + 2u]);
    vec3 base = 0.5 + vec3(compensation[3u * i], compensation[3u * i + 1u], compensation[3u * i + 2u]);
    vec3 sh[16];
    for (uint j = 0u; j < (SIZE + 1u) / 2u; ++j) {
        uint at = WORDS * j * count + i;
        load_pair(harmonics, at, sh[2u * j], sh[2u * j + 1u]);
    }
    vec3 light = vec3(1.0);
    if (relit != 0u) {
        float y[16];
        harmonics_of(normalize(unpackSnorm4x8(normals[i]).xyz) * to_local, 9u, y);
        light = vec3(0.0);
        for (uint j = 0u; j < 9u; ++j) light += y[j] * irradiance[j];
        light = max(light, 0.0);
    }
    for (uint e = 0u; e < eyes; ++e) {
        vec3 way = mean - eye[e];
        float y[16];
        harmonics_of(to_local * (way * inversesqrt(max(dot(way, way), 1e-12))), SIZE, y);
        vec3 color = base;
        for (uint j = 0u; j < SIZE; ++j) color += y[j] * sh[j];
        color = clamp(color, 0.0, 1.0);
        if (relit != 0u) color = pow(clamp(pow(color, vec3(GAMMA)) * light, 0.0, 1.0), vec3(1.0 / GAMMA));
        uint at = 3u * (e * pooled + first + i);
        colors[at] = color.r;
        colors[at + 1u] = color.g;
        colors[at + 2u] = color.b;
    }
}
