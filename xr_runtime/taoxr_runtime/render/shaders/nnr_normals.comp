#version 450
// One vertex per invocation: the mean of the normals around it, weighed by area, in the order of the triangles.
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Vertices { float vertices[]; };
layout(std430, binding = 1) readonly buffer Triangles { uint triangles[]; };
layout(std430, binding = 2) readonly buffer Starts { uint starts[]; };
layout(std430, binding = 3) readonly buffer Around { uint around[]; };  // triangles around each vertex
layout(std430, binding = 4) writeonly buffer Normals { float normals[]; };

uniform uint count;

vec3 vertex(uint v) {
    return vec3(vertices[3u * v], vertices[3u * v + 1u], vertices[3u * v + 2u]);
}

void main() {
    uint v = gl_GlobalInvocationID.x;
    if (v >= count) return;
    vec3 sum = vec3(0.0);
    for (uint k = starts[v]; k < starts[v + 1u]; ++k) {
        uint t = 3u * around[k];
        vec3 corner = vertex(triangles[t]);
        sum += cross(vertex(triangles[t + 1u]) - corner, vertex(triangles[t + 2u]) - corner);
    }
    sum /= max(length(sum), 1e-20);
    normals[3u * v] = sum.x;
    normals[3u * v + 1u] = sum.y;
    normals[3u * v + 2u] = sum.z;
}
