#version 450
// One vertex per invocation: a blend of the transforms of its bones.
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Shaped { float shaped[]; };
layout(std430, binding = 1) readonly buffer Bones { float bones[]; };  // 3 rows of 4 each
layout(std430, binding = 2) readonly buffer Indices { uint indices[]; };
layout(std430, binding = 3) readonly buffer Weights { float weights[]; };
layout(std430, binding = 4) writeonly buffer Vertices { float vertices[]; };

uniform uint count;
uniform uint influences;  // bones of a vertex

void main() {
    uint v = gl_GlobalInvocationID.x;
    if (v >= count) return;
    vec4 p = vec4(shaped[3u * v], shaped[3u * v + 1u], shaped[3u * v + 2u], 1.0);
    vec3 moved = vec3(0.0);
    for (uint k = v * influences; k < (v + 1u) * influences; ++k) {
        uint b = 12u * indices[k];
        vec3 here;
        for (uint row = 0u; row < 3u; ++row) {
            uint at = b + 4u * row;
            here[row] = dot(vec4(bones[at], bones[at + 1u], bones[at + 2u], bones[at + 3u]), p);
        }
        moved += weights[k] * here;
    }
    vertices[3u * v] = moved.x;
    vertices[3u * v + 1u] = moved.y;
    vertices[3u * v + 2u] = moved.z;
}
