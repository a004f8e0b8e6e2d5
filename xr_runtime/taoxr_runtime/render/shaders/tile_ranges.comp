#version 450
// Where each tile's entries begin and end in the sorted list.
layout(local_size_x = GROUP) in;

layout(std430, binding = 0) readonly buffer Control { uint entries; uint pad[3]; uvec4 groups; };
layout(std430, binding = 1) readonly buffer Keys { uint keys[]; };
layout(std430, binding = 2) writeonly buffer Ranges { uint ranges[]; };  // begin and end, of each tile; zeros before

void main() {
    for (uint i = 0u; i < ITEMS; ++i) {
        uint at = (gl_WorkGroupID.x * ITEMS + i) * GROUP + gl_LocalInvocationIndex;
        if (at >= entries) return;
        uint tile = keys[at];
        if (at == 0u || keys[at - 1u] != tile) ranges[2u * tile] = at;
        if (at + 1u == entries || keys[at + 1u] != tile) ranges[2u * tile + 1u] = at + 1u;
    }
}
