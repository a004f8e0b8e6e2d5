#version 450
// One splat per invocation, in drawing order: read it once and project it to an ellipse in pixels for each eye.
#include "projection.glsl"
layout(local_size_x = 128) in;

layout(std430, binding = 4) readonly buffer Order { uint order[]; };

struct Footprint {
    vec2 center;   // pixels from the top left
    vec2 major;    // one standard deviation along the long axis, pixels
    float minor;   // the same across it
    float reach;   // standard deviations to where alpha is 1/255; 0 when not seen
    uint red_green;
    uint blue_opacity;
};
layout(std430, binding = 5) writeonly buffer Footprints { Footprint footprints[]; };  // of each eye

uniform uint stride;  // from one eye's footprints to the next one's

void write(uint at, Ellipse ellipse, vec3 color) {
    float a = ellipse.covariance.x, b = ellipse.covariance.y, c = ellipse.covariance.z;
    // Eigenvalues: the smaller one from the determinant, for their difference would lose its digits.
    float skew = 0.5 * (a - c);
    float spread = sqrt(skew * skew + b * b);
    float large = 0.5 * (a + c) + spread;
    float small = ellipse.determinant / large;
    vec2 axis = skew >= 0.0 ? vec2(skew + spread, b) : vec2(b, spread - skew);
    float norm = length(axis);
    axis = norm > 0.0 ? axis / norm : vec2(1.0, 0.0);

    footprints[at].center = ellipse.center;
    footprints[at].major = axis * sqrt(large);
    footprints[at].minor = sqrt(small);
    footprints[at].reach = sqrt(2.0 * log(ellipse.opacity / MIN_ALPHA));
    footprints[at].red_green = packUnorm2x16(color.rg);
    footprints[at].blue_opacity = packUnorm2x16(vec2(color.b, ellipse.opacity));
}

void main() {
    uint rank = gl_GlobalInvocationID.x;
    if (rank >= count) return;
    uint i = order[rank];
    vec3 mean = mean_of(i);
    mat3 world = covariance_of(i);
    for (uint e = 0; e < eye_count; ++e) {
        uint at = e * stride + rank;
        Ellipse ellipse;
        if (project(e, mean, world, opacities[i], ellipse)) write(at, ellipse, color_of(i, e));
        else footprints[at].reach = 0.0;
    }
}
