#version 450
// One workgroup per digit: from the blocks' tallies to how many keys with that digit lie in the blocks before.
layout(local_size_x = GROUP) in;

layout(std430, binding = 0) readonly buffer Control { uint count; uint pad[3]; uvec4 groups; };
layout(std430, binding = 5) buffer Tallies { uint tallies[]; };  // [digit][block]
layout(std430, binding = 6) writeonly buffer Totals { uint totals[]; };  // [digit]

uniform uint stride;

shared uint sums[GROUP];

void main() {
    uint local = gl_LocalInvocationIndex, digit = gl_WorkGroupID.x;
    uint before = 0u;
    for (uint first = 0u; first < groups.x; first += GROUP) {
        uint at = digit * stride + first + local;
        uint own = first + local < groups.x ? tallies[at] : 0u;
        sums[local] = own;
        barrier();
        for (uint step = 1u; step < GROUP; step <<= 1) {
            uint add = local >= step ? sums[local - step] : 0u;
            barrier();
            sums[local] += add;
            barrier();
        }
        if (first + local < groups.x) tallies[at] = before + sums[local] - own;
        before += sums[GROUP - 1u];
        barrier();
    }
    if (local == 0u) totals[digit] = before;
}
