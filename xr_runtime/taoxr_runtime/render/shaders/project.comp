#version 450
// One splat per invocation, in drawing order: read it once and project it to an ellipse in pixels for each eye.
// Twin of reference.project.
layout(local_size_x = 128) in;

layout(std430, binding = 0) readonly buffer Means { float means[]; };              // xyz
layout(std430, binding = 1) readonly buffer Covariances { float covariances[]; };  // xx xy xz yy yz zz
layout(std430, binding = 2) readonly buffer Opacities { float opacities[]; };
layout(std430, binding = 3) readonly buffer Colors { float colors[]; };            // rgb, sRGB-encoded; of all, or of all for each eye
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

struct Eye {
    mat4 world_to_view;
    vec2 focal;
    vec2 principal;
    vec2 size;
    vec4 tangent_limits;  // left, right, down, up, margin included
    float near;
};
uniform Eye eyes[2];
uniform uint eye_count;
uniform uint count;
uniform uint stride;      // from one eye's footprints to the next one's
uniform uint eye_colors;  // from one eye's colours to the next one's, 0 when they share them

const float LOW_PASS = 0.3;
const float MIN_ALPHA = 1.0 / 255.0;

void project(uint e, uint at, vec3 mean, mat3 world, float opacity, vec3 color) {
    footprints[at].reach = 0.0;
    mat4 world_to_view = eyes[e].world_to_view;
    vec3 p = (world_to_view * vec4(mean, 1.0)).xyz;
    float depth = -p.z;
    if (depth < eyes[e].near) return;
    vec2 focal = eyes[e].focal;
    vec2 tangent = p.xy / depth;
    vec2 center = eyes[e].principal + focal * vec2(tangent.x, -tangent.y);

    // The Jacobian is taken no farther out than the margin, where it would make footprints explode.
    vec2 linear = clamp(tangent, eyes[e].tangent_limits.xz, eyes[e].tangent_limits.yw);
    mat3 rotation = transpose(mat3(world_to_view));  // columns: the view's axes in the world
    vec3 du = focal.x / depth * (rotation[0] + linear.x * rotation[2]);
    vec3 dv = -focal.y / depth * (rotation[1] + linear.y * rotation[2]);
    vec3 world_du = world * du;
    float a = dot(du, world_du), b = dot(dv, world_du), c = dot(dv, world * dv);

    // Refuses what is no covariance, and what overflows.
    if (!(a >= 0.0 && c >= 0.0 && a + c < 1e12)) return;
    float before = max(a * c - b * b, 0.0);
    a += LOW_PASS;
    c += LOW_PASS;
    float after = max(a * c - b * b, LOW_PASS * LOW_PASS);
    opacity *= sqrt(before / after);
    if (opacity <= MIN_ALPHA) return;
    float reach = sqrt(2.0 * log(opacity / MIN_ALPHA));
    vec2 half_size = reach * sqrt(vec2(a, c));
    if (any(lessThanEqual(center + half_size, vec2(0.0)))) return;
    if (any(greaterThanEqual(center - half_size, eyes[e].size))) return;

    // Eigenvalues: the smaller one from the determinant, for their difference would lose its digits.
    float skew = 0.5 * (a - c);
    float spread = sqrt(skew * skew + b * b);
    float large = 0.5 * (a + c) + spread;
    float small = after / large;
    vec2 axis = skew >= 0.0 ? vec2(skew + spread, b) : vec2(b, spread - skew);
    float norm = length(axis);
    axis = norm > 0.0 ? axis / norm : vec2(1.0, 0.0);

    footprints[at].center = center;
    footprints[at].major = axis * sqrt(large);
    footprints[at].minor = sqrt(small);
    footprints[at].reach = reach;
    footprints[at].red_green = packUnorm2x16(color.rg);
    footprints[at].blue_opacity = packUnorm2x16(vec2(color.b, opacity));
}

void main() {
    uint rank = gl_GlobalInvocationID.x;
    if (rank >= count) return;
    uint i = order[rank];
    vec3 mean = vec3(means[3 * i], means[3 * i + 1], means[3 * i + 2]);
    uint k = 6 * i;
    vec3 diagonal = vec3(covariances[k], covariances[k + 3], covariances[k + 5]);
    vec3 mixed = vec3(covariances[k + 1], covariances[k + 2], covariances[k + 4]);  // xy xz yz
    mat3 world = mat3(diagonal.x, mixed.x, mixed.y, mixed.x, diagonal.y, mixed.z, mixed.y, mixed.z, diagonal.z);
    for (uint e = 0; e < eye_count; ++e) {
        uint c = e * eye_colors + 3 * i;
        project(e, e * stride + rank, mean, world, opacities[i], vec3(colors[c], colors[c + 1], colors[c + 2]));
    }
}
