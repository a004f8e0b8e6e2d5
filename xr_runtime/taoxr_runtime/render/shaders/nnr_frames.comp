#version 450
// One triangle per invocation: its frame, whose columns are the first edge, what is across it, and the normal.
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Vertices { float vertices[]; };
layout(std430, binding = 1) readonly buffer Triangles { uint triangles[]; };
layout(std430, binding = 2) writeonly buffer Frames { float frames[]; };  // rows

uniform uint count;

const float DEGENERATE = 1e-12;

vec3 vertex(uint v) {
    return vec3(vertices[3u * v], vertices[3u * v + 1u], vertices[3u * v + 2u]);
}

void main() {
    uint t = gl_GlobalInvocationID.x;
    if (t >= count) return;
    vec3 corner = vertex(triangles[3u * t]);
    vec3 edge = vertex(triangles[3u * t + 1u]) - corner;
    vec3 normal = cross(edge, vertex(triangles[3u * t + 2u]) - corner);
    float double_area = length(normal);
    mat3 frame = mat3(1.0);
    if (double_area > DEGENERATE) {
        vec3 z = normal / double_area, x = edge / max(length(edge), 1e-9);
        frame = mat3(x, cross(z, x), z);
    }
    for (uint row = 0u; row < 3u; ++row)
        for (uint column = 0u; column < 3u; ++column) frames[9u * t + 3u * row + column] = frame[column][row];
}
