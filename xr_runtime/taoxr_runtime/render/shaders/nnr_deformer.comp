#version 450
// One splat per invocation: its place, turn and size in the frame of its triangle, and what the coefficients add to place and colour.
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Vertices { float vertices[]; };
layout(std430, binding = 1) readonly buffer Triangles { uint triangles[]; };
// Six words each, word by word over all splats, so that neighbours read side by side: triangle and offset; weights of
// corners 1 and 2; rotation (two words); scale (two words).
layout(std430, binding = 2) readonly buffer Splats { uint splats[]; };
// x, y, z of coefficients 0 and 1, 2 and 3, ... as halves in three words each; also word by word. First the places, then
// the colours.
layout(std430, binding = 3) readonly buffer Shapes { uint shapes[]; };
layout(std430, binding = 4) readonly buffer Coefficients { vec2 coefficients[]; };
layout(std430, binding = 5) writeonly buffer Means { float means[]; };
layout(std430, binding = 6) writeonly buffer Covariances { float covariances[]; };
layout(std430, binding = 7) writeonly buffer Compensation { float compensation[]; };

uniform uint count;
uniform uint first;  // of the scene's splats in the pool
uniform uint pairs;  // of coefficients

#include "pairs.glsl"

const float DEGENERATE = 1e-12;

vec3 vertex(uint v) {
    return vec3(vertices[3u * v], vertices[3u * v + 1u], vertices[3u * v + 2u]);
}

vec3 blend(uint i, uint first_word) {
    vec3 sum = vec3(0.0);
    uint at = first_word * count + i;
    for (uint k = 0u; k < pairs; ++k, at += WORDS * count) {
        vec3 even, odd;
        load_pair(shapes, at, even, odd);
        sum += coefficients[k].x * even + coefficients[k].y * odd;
    }
    return sum;
}

mat3 turn_of(vec4 q) {
    vec3 d = 2.0 * q.xyz * q.xyz, w = 2.0 * q.w * q.xyz;
    float xy = 2.0 * q.x * q.y, xz = 2.0 * q.x * q.z, yz = 2.0 * q.y * q.z;
    return mat3(
        1.0 - d.y - d.z, xy + w.z, xz - w.y,
        xy - w.z, 1.0 - d.x - d.z, yz + w.x,
        xz + w.y, yz - w.x, 1.0 - d.x - d.y
    );
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    uint t = 3u * (splats[i] & 0xffffu);
    vec3 p0 = vertex(triangles[t]), p1 = vertex(triangles[t + 1u]), p2 = vertex(triangles[t + 2u]);
    vec3 e1 = p1 - p0, e2 = p2 - p0, normal = cross(e1, e2);
    float first_edge = length(e1), edge = (first_edge + length(e2) + length(p2 - p1)) / 3.0;
    float double_area = length(normal);
    mat3 frame = mat3(1.0);
    if (double_area > DEGENERATE) {
        vec3 z = normal / double_area, x = e1 / max(first_edge, 1e-9);
        frame = mat3(x, cross(z, x), z);
    }
    vec2 b = unpackHalf2x16(splats[count + i]);
    vec3 scale = edge * vec3(unpackHalf2x16(splats[4u * count + i]), unpackHalf2x16(splats[5u * count + i]).x);
    vec3 local = blend(i, 0u) + vec3(0.0, 0.0, unpackHalf2x16(splats[i]).y);
    vec3 mean = (1.0 - b.x - b.y) * p0 + b.x * p1 + b.y * p2 + frame * local;
    vec4 q = normalize(vec4(unpackSnorm2x16(splats[2u * count + i]), unpackSnorm2x16(splats[3u * count + i])));
    mat3 axes = frame * turn_of(q);
    axes = mat3(axes[0] * scale.x, axes[1] * scale.y, axes[2] * scale.z);
    mat3 world = axes * transpose(axes);
    vec3 added = blend(i, WORDS * pairs);
    for (uint k = 0u; k < 3u; ++k) {
        means[3u * (first + i) + k] = mean[k];
        compensation[3u * i + k] = added[k];
    }
    i += first;
    covariances[6u * i] = world[0][0];
    covariances[6u * i + 1u] = world[0][1];
    covariances[6u * i + 2u] = world[0][2];
    covariances[6u * i + 3u] = world[1][1];
    covariances[6u * i + 4u] = world[1][2];
    covariances[6u * i + 5u] = world[2][2];
}
