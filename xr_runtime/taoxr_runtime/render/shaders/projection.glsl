// From a Gaussian in the world to an ellipse in an eye's pixels. Twin of reference.project.
layout(std430, binding = 0) readonly buffer Means { float means[]; };              // xyz
layout(std430, binding = 1) readonly buffer Covariances { float covariances[]; };  // xx xy xz yy yz zz
layout(std430, binding = 2) readonly buffer Opacities { float opacities[]; };
layout(std430, binding = 3) readonly buffer Colors { float colors[]; };            // rgb, sRGB-encoded; of all, or of all for each eye

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
uniform uint eye_colors;  // from one eye's colours to the next one's, 0 when they share them

const float LOW_PASS = 0.3;
const float MIN_ALPHA = 1.0 / 255.0;

vec3 mean_of(uint i) {
    return vec3(means[3u * i], means[3u * i + 1u], means[3u * i + 2u]);
}

mat3 covariance_of(uint i) {
    uint k = 6u * i;
    vec3 diagonal = vec3(covariances[k], covariances[k + 3u], covariances[k + 5u]);
    vec3 mixed = vec3(covariances[k + 1u], covariances[k + 2u], covariances[k + 4u]);  // xy xz yz
    return mat3(diagonal.x, mixed.x, mixed.y, mixed.x, diagonal.y, mixed.z, mixed.y, mixed.z, diagonal.z);
}

vec3 color_of(uint i, uint e) {
    uint c = e * eye_colors + 3u * i;
    return vec3(colors[c], colors[c + 1u], colors[c + 2u]);
}

struct Ellipse {
    vec2 center;      // pixels from the top left
    vec3 covariance;  // xx xy yy, low pass included
    float determinant;
    float opacity;    // what the low pass leaves of it
    vec2 half_size;   // of the box outside of which alpha is under 1/255
};

// False when nothing of it is seen.
bool project(uint e, vec3 mean, mat3 world, float opacity, out Ellipse ellipse) {
    mat4 world_to_view = eyes[e].world_to_view;
    vec3 p = (world_to_view * vec4(mean, 1.0)).xyz;
    float depth = -p.z;
    if (depth < eyes[e].near) return false;
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
    if (!(a >= 0.0 && c >= 0.0 && a + c < 1e12)) return false;
    float before = max(a * c - b * b, 0.0);
    a += LOW_PASS;
    c += LOW_PASS;
    float after = max(a * c - b * b, LOW_PASS * LOW_PASS);
    opacity *= sqrt(before / after);
    if (opacity <= MIN_ALPHA) return false;
    vec2 half_size = sqrt(2.0 * log(opacity / MIN_ALPHA)) * sqrt(vec2(a, c));
    if (any(lessThanEqual(center + half_size, vec2(0.0)))) return false;
    if (any(greaterThanEqual(center - half_size, eyes[e].size))) return false;
    ellipse = Ellipse(center, vec3(a, b, c), after, opacity, half_size);
    return true;
}
