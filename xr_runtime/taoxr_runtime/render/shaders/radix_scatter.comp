#version 450
// Moves each key and its value to where its digit belongs; equal digits keep their order.
//
// Within a block, ranks come from ballots among the invocations of a subgroup (SUBGROUPS), or from a table of
// counts for each invocation, which takes narrower digits but nothing beyond OpenGL 4.5.
layout(local_size_x = GROUP) in;

layout(std430, binding = 0) readonly buffer Control { uint count; uint pad[3]; uvec4 groups; };
layout(std430, binding = 1) readonly buffer KeysIn { uint keys_in[]; };
layout(std430, binding = 2) readonly buffer ValuesIn { uint values_in[]; };
layout(std430, binding = 3) writeonly buffer KeysOut { uint keys_out[]; };
layout(std430, binding = 4) writeonly buffer ValuesOut { uint values_out[]; };
layout(std430, binding = 5) readonly buffer Tallies { uint tallies[]; };  // keys of a digit in the blocks before
layout(std430, binding = 6) readonly buffer Totals { uint totals[]; };    // keys of a digit in all blocks

uniform uint shift;
uniform uint stride;

const uint RADIX = 1u << DIGIT_BITS;
shared uint starts[RADIX];  // where this block's first key of a digit goes

void find_starts(uint local) {
    if (local < RADIX) starts[local] = totals[local];
    barrier();
    for (uint step = 1u; step < RADIX; step <<= 1) {
        uint add = local < RADIX && local >= step ? starts[local - step] : 0u;
        barrier();
        if (local < RADIX) starts[local] += add;
        barrier();
    }
    uint start = local < RADIX && local > 0u ? starts[local - 1u] : 0u;
    barrier();
    if (local < RADIX) starts[local] = start + tallies[local * stride + gl_WorkGroupID.x];
    barrier();
}

#ifdef SUBGROUPS
// Each subgroup takes a run of keys, one row of as many as it has invocations after the other.
shared uint tally[GROUP / SUBGROUPS][RADIX];

void main() {
    uint local = gl_LocalInvocationIndex, own = gl_SubgroupID, lane = gl_SubgroupInvocationID;
    find_starts(local);
    for (uint d = lane; d < RADIX; d += SUBGROUPS) tally[own][d] = 0u;
    subgroupMemoryBarrierShared();
    subgroupBarrier();

    uint first = gl_WorkGroupID.x * (GROUP * ITEMS) + own * (SUBGROUPS * ITEMS) + lane;
    uint keys[ITEMS], ranks[ITEMS];
    for (uint i = 0u; i < ITEMS; ++i) {
        uint at = first + i * SUBGROUPS;
        keys[i] = at < count ? keys_in[at] : 0u;
    }
    for (uint i = 0u; i < ITEMS; ++i) {
        bool valid = first + i * SUBGROUPS < count;
        uint digit = (keys[i] >> shift) & (RADIX - 1u);
        uvec4 peers = subgroupBallot(valid);
        for (uint bit = 0u; bit < DIGIT_BITS; ++bit) {
            bool set = ((digit >> bit) & 1u) != 0u;
            uvec4 ones = subgroupBallot(set);
            peers &= set ? ones : ~ones;
        }
        uint lower = subgroupBallotExclusiveBitCount(peers);
        uint before = tally[own][digit];
        subgroupMemoryBarrierShared();
        subgroupBarrier();
        ranks[i] = before + lower;
        if (valid && lower == 0u) tally[own][digit] = before + subgroupBallotBitCount(peers);
        subgroupMemoryBarrierShared();
        subgroupBarrier();
    }
    barrier();
    for (uint d = local; d < RADIX; d += GROUP) {
        uint before = starts[d];
        for (uint s = 0u; s < GROUP / SUBGROUPS; ++s) {
            uint here = tally[s][d];
            tally[s][d] = before;
            before += here;
        }
    }
    barrier();
    for (uint i = 0u; i < ITEMS; ++i) {
        uint at = first + i * SUBGROUPS;
        if (at < count) {
            uint to = tally[own][(keys[i] >> shift) & (RADIX - 1u)] + ranks[i];
            keys_out[to] = keys[i];
            values_out[to] = values_in[at];
        }
    }
}
#else
// Each invocation takes a run of keys. Two 16-bit counts share a word: digit d and d + RADIX / 2.
const uint HALF = RADIX / 2u;
shared uint tally[HALF][GROUP];

void main() {
    uint local = gl_LocalInvocationIndex;
    find_starts(local);
    for (uint d = 0u; d < HALF; ++d) tally[d][local] = 0u;
    uint first = (gl_WorkGroupID.x * GROUP + local) * ITEMS;
    uint keys[ITEMS], ranks[ITEMS];
    for (uint i = 0u; i < ITEMS; ++i) {
        keys[i] = first + i < count ? keys_in[first + i] : 0u;
        uint digit = (keys[i] >> shift) & (RADIX - 1u);
        uint half_shift = digit < HALF ? 0u : 16u;
        uint word = tally[digit & (HALF - 1u)][local];
        ranks[i] = (word >> half_shift) & 0xFFFFu;
        if (first + i < count) tally[digit & (HALF - 1u)][local] = word + (1u << half_shift);
    }
    barrier();
    uint own[HALF];
    for (uint d = 0u; d < HALF; ++d) own[d] = tally[d][local];
    for (uint step = 1u; step < GROUP; step <<= 1) {
        uint add[HALF];
        for (uint d = 0u; d < HALF; ++d) add[d] = local >= step ? tally[d][local - step] : 0u;
        barrier();
        for (uint d = 0u; d < HALF; ++d) tally[d][local] += add[d];
        barrier();
    }
    for (uint i = 0u; i < ITEMS; ++i) {
        if (first + i < count) {
            uint digit = (keys[i] >> shift) & (RADIX - 1u);
            uint word = digit & (HALF - 1u), half_shift = digit < HALF ? 0u : 16u;
            uint before = ((tally[word][local] - own[word]) >> half_shift) & 0xFFFFu;
            uint to = starts[digit] + before + ranks[i];
            keys_out[to] = keys[i];
            values_out[to] = values_in[first + i];
        }
    }
}
#endif
