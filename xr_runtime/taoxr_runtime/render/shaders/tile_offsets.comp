#version 450
// One workgroup: where each block's entries begin in the list of all, how many there are, and the sizes of the
// dispatches that work on them.
layout(local_size_x = GROUP) in;

layout(std430, binding = 2) buffer Sums { uint sums[]; };
layout(std430, binding = 3) writeonly buffer Control { uint entries; uint wanted; uint pad[2]; uvec4 groups; };

uniform uint blocks;
uniform uint capacity;  // of the list
uniform uint block;     // entries that one workgroup of the sort takes

shared uint scanned[GROUP];

void main() {
    uint local = gl_LocalInvocationIndex, before = 0u;
    for (uint first = 0u; first < blocks; first += GROUP) {
        uint own = first + local < blocks ? sums[first + local] : 0u;
        scanned[local] = own;
        barrier();
        for (uint step = 1u; step < GROUP; step <<= 1) {
            uint add = local >= step ? scanned[local - step] : 0u;
            barrier();
            scanned[local] += add;
            barrier();
        }
        if (first + local < blocks) sums[first + local] = before + scanned[local] - own;
        before += scanned[GROUP - 1u];
        barrier();
    }
    if (local == 0u) {
        entries = min(before, capacity);
        wanted = before;
        groups = uvec4((min(before, capacity) + block - 1u) / block, 1u, 1u, 0u);
    }
}
