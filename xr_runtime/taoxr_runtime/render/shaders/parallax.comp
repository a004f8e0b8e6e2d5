#version 450
// How large splats are that are near: over 1 eyes need orders of their own. The square of parallax.largest over MOST.
layout(local_size_x = 128) in;

layout(std430, binding = 0) readonly buffer Means { float means[]; };
layout(std430, binding = 1) readonly buffer Covariances { float covariances[]; };  // xx xy xz yy yz zz
layout(std430, binding = 2) readonly buffer Opacities { float opacities[]; };
layout(std430, binding = 3) buffer Largest { uint largest; };  // a float's bits, which order as it does; zero before

uniform uint count;
uniform vec3 middle;
uniform float scale;  // of a trace, to compare it with the fourth power of a distance

shared uint largest_here;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (gl_LocalInvocationIndex == 0u) largest_here = 0u;
    barrier();
    if (i < count) {
        vec3 away = vec3(means[3u * i], means[3u * i + 1u], means[3u * i + 2u]) - middle;
        float squared = dot(away, away), trace = covariances[6u * i] + covariances[6u * i + 3u] + covariances[6u * i + 5u];
        // A splat at the middle itself is as near as can be.
        float found = squared > 1e-18 ? min(trace * scale / (squared * squared), 1e30) : 1e30;
        if (opacities[i] > 1.0 / 255.0 && found > 0.0 && trace > 0.0) atomicMax(largest_here, floatBitsToUint(found));
    }
    barrier();
    if (gl_LocalInvocationIndex == 0u && largest_here != 0u) atomicMax(largest, largest_here);
}
