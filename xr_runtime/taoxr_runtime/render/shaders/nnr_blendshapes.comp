#version 450
// One vertex per invocation: its place at rest plus the offsets of the shapes that move it, and what a field adds.
layout(local_size_x = 64) in;

struct Delta { uint shape; float x, y, z; };
layout(std430, binding = 0) readonly buffer Rest { float rest[]; };
layout(std430, binding = 1) readonly buffer Starts { uint starts[]; };  // of each vertex's deltas, and one past the last
layout(std430, binding = 2) readonly buffer Deltas { Delta deltas[]; };
layout(std430, binding = 3) readonly buffer Weights { float weights[]; };
layout(std430, binding = 4) writeonly buffer Shaped { float shaped[]; };
layout(std430, binding = 5) readonly buffer Displacement { float displacement[]; };  // of a field

uniform uint count;
uniform uint displaced;

void main() {
    uint v = gl_GlobalInvocationID.x;
    if (v >= count) return;
    vec3 p = vec3(rest[3u * v], rest[3u * v + 1u], rest[3u * v + 2u]);
    for (uint k = starts[v]; k < starts[v + 1u]; ++k) p += weights[deltas[k].shape] * vec3(deltas[k].x, deltas[k].y, deltas[k].z);
    if (displaced != 0u) p += vec3(displacement[3u * v], displacement[3u * v + 1u], displacement[3u * v + 2u]);
    shaped[3u * v] = p.x;
    shaped[3u * v + 1u] = p.y;
    shaped[3u * v + 2u] = p.z;
}
