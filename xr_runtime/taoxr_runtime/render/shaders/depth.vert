#version 450
// A vertex of a mesh; its place comes from the buffer in which the scene's kernels left it.

layout(std430, binding = 0) readonly buffer Vertices { float vertices[]; };

uniform mat4 world_to_clip;

void main() {
    int first = 3 * gl_VertexID;
    gl_Position = world_to_clip * vec4(vertices[first], vertices[first + 1], vertices[first + 2], 1.0);
}
