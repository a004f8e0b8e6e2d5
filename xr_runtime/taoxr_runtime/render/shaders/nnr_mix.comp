#version 450
// One number per invocation: between what a slow node made last and what it made before.
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Before { float before[]; };
layout(std430, binding = 1) readonly buffer After { float after[]; };
layout(std430, binding = 2) writeonly buffer Between { float between[]; };

uniform uint first;  // where in Between
uniform uint count;
uniform float amount;

void main() {
    uint i = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (i < count) between[first + i] = mix(before[i], after[i], amount);
}
