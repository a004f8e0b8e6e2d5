#version 450
// A small network over the vertices, 32 of them per group. In every layer each invocation makes 4 outputs of 4 vertices, from
// activations and weights that the group shares. The first layer comes in two parts, added here: see Field.
layout(local_size_x = 128) in;

layout(std430, binding = 0) readonly buffer AtRest { vec4 at_rest[]; };       // of each group: by unit, then vertex
layout(std430, binding = 1) readonly buffer First { float first[]; };         // [WIDTH]
layout(std430, binding = 2) readonly buffer Weights { vec4 weights[]; };      // of each hidden layer: WIDTH rows by input, then the bias
layout(std430, binding = 3) readonly buffer Last { vec4 last[]; };            // for each input what it adds to x, y, z; then the bias
layout(std430, binding = 4) writeonly buffer Displacement { float displacement[]; };

uniform uint count;
uniform uint layers;  // hidden ones after the first
uniform float limit;

const uint WIDTH = 64u;
const uint TILE = 32u;
shared vec4 hidden[WIDTH * TILE / 4u];  // by unit, then vertex
shared vec4 layer[WIDTH * WIDTH / 4u];  // by input, then output

void main() {
    uint thread = gl_LocalInvocationID.x;
    uint base = gl_WorkGroupID.x * TILE;
    uint column = thread & 15u, row = thread >> 4;  // 4 outputs from 4 · column, 4 vertices from 4 · row
    for (uint k = thread; k < WIDTH * TILE / 4u; k += 128u)
        hidden[k] = max(at_rest[WIDTH * TILE / 4u * gl_WorkGroupID.x + k] + first[k >> 3], 0.0);
    for (uint l = 0u; l < layers; ++l) {
        uint start = l * (WIDTH + 1u) * WIDTH / 4u;
        for (uint k = thread; k < WIDTH * WIDTH / 4u; k += 128u) layer[k] = weights[start + k];
        barrier();
        vec4 bias = weights[start + WIDTH * WIDTH / 4u + column];
        vec4 a = bias, b = bias, c = bias, d = bias;
        for (uint k = 0u; k < WIDTH; ++k) {
            vec4 into = hidden[8u * k + row], by = layer[16u * k + column];
            a += into.x * by;
            b += into.y * by;
            c += into.z * by;
            d += into.w * by;
        }
        barrier();
        for (uint j = 0u; j < 4u; ++j) hidden[8u * (4u * column + j) + row] = max(vec4(a[j], b[j], c[j], d[j]), 0.0);
    }
    barrier();
    uint vertex = thread & 31u, axis = thread >> 5;
    if (axis == 3u || base + vertex >= count) return;
    float sum = last[WIDTH][axis];
    for (uint k = 0u; k < WIDTH; ++k) sum += hidden[8u * k + (vertex >> 2)][vertex & 3u] * last[k][axis];
    displacement[3u * (base + vertex) + axis] = clamp(sum, -limit, limit);
}
