#version 450
// Whether any splat is so large and so near that eyes need orders of their own. Twin of parallax.largest.
layout(local_size_x = 128) in;

layout(std430, binding = 0) readonly buffer Means { float means[]; };
layout(std430, binding = 1) readonly buffer Covariances { float covariances[]; };  // xx xy xz yy yz zz
layout(std430, binding = 2) readonly buffer Opacities { float opacities[]; };
layout(std430, binding = 3) writeonly buffer Flag { uint apart; };  // zero before

uniform uint count;
uniform vec3 middle;
uniform float scale;  // of a trace, to compare it with the fourth power of a distance

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    vec3 away = vec3(means[3u * i], means[3u * i + 1u], means[3u * i + 2u]) - middle;
    float squared = dot(away, away), trace = covariances[6u * i] + covariances[6u * i + 3u] + covariances[6u * i + 5u];
    if (opacities[i] > 1.0 / 255.0 && trace * scale > squared * squared) apart = 1u;
}
