#version 450
// Keys that sort splats by distance from a point, farthest first. Twin of sorting.back_to_front.
layout(local_size_x = 128) in;

layout(std430, binding = 0) readonly buffer Means { float means[]; };
layout(std430, binding = 1) writeonly buffer Keys { uint keys[]; };
layout(std430, binding = 2) writeonly buffer Values { uint values[]; };

uniform uint count;
uniform vec3 viewpoint;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    precise vec3 away = vec3(means[3u * i], means[3u * i + 1u], means[3u * i + 2u]) - viewpoint;
    precise float squared = away.x * away.x + away.y * away.y + away.z * away.z;
    keys[i] = ~floatBitsToUint(squared);
    values[i] = i;
}
