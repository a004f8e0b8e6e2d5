#version 450
// How often each digit occurs in each workgroup's block of keys.
layout(local_size_x = GROUP) in;

layout(std430, binding = 0) readonly buffer Control { uint count; uint pad[3]; uvec4 groups; };
layout(std430, binding = 1) readonly buffer Keys { uint keys[]; };
layout(std430, binding = 5) writeonly buffer Tallies { uint tallies[]; };  // [digit][block]

uniform uint shift;
uniform uint stride;  // from one digit's tallies to the next one's

const uint RADIX = 1u << DIGIT_BITS;
shared uint tally[RADIX];

void main() {
    uint local = gl_LocalInvocationIndex, block = gl_WorkGroupID.x;
    for (uint d = local; d < RADIX; d += GROUP) tally[d] = 0u;
    barrier();
    uint first = block * (GROUP * ITEMS) + local;
    for (uint i = 0u; i < ITEMS; ++i) {
        uint at = first + i * GROUP;
        if (at < count) atomicAdd(tally[(keys[at] >> shift) & (RADIX - 1u)], 1u);
    }
    barrier();
    for (uint d = local; d < RADIX; d += GROUP) tallies[d * stride + block] = tally[d];
}
