#version 450
// One number per invocation: between what a slow node made last and what it made before.
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Before { float before[]; };
layout(std430, binding = 1) readonly buffer After { float after[]; };
layout(std430, binding = 2) writeonly buffer Between { float between[]; };

uniform uint count;
uniform float amount;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < count) between[i] = mix(before[i], after[i], amount);
}
