#version 450
// Tiles touched by each block of splats, nearest first.
layout(local_size_x = GROUP) in;

layout(std430, binding = 0) readonly buffer Order { uint order[]; };
layout(std430, binding = 1) readonly buffer Touched { uint touched[]; };
layout(std430, binding = 2) writeonly buffer Sums { uint sums[]; };

uniform uint ranks;  // splats in the order
uniform uint count;  // splats
uniform uint eye_count;

shared uint total;

void main() {
    uint rank = gl_GlobalInvocationID.x;
    if (gl_LocalInvocationIndex == 0u) total = 0u;
    barrier();
    if (rank < ranks) {
        uint i = order[rank];
        uint both = touched[i] + (eye_count > 1u ? touched[count + i] : 0u);
        if (both > 0u) atomicAdd(total, both);
    }
    barrier();
    if (gl_LocalInvocationIndex == 0u) sums[gl_WorkGroupID.x] = total;
}
