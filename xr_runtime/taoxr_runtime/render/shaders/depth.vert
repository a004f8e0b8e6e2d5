#version 450
// A corner of a mesh's triangle; its place comes from the buffer in which the scene's kernels left it.

layout(std430, binding = 0) readonly buffer Vertices { float vertices[]; };
layout(std430, binding = 1) readonly buffer Triangles { uint triangles[]; };

uniform mat4 world_to_clip;

void main() {
    uint first = 3u * triangles[gl_VertexID];
    gl_Position = world_to_clip * vec4(vertices[first], vertices[first + 1u], vertices[first + 2u], 1.0);
}
