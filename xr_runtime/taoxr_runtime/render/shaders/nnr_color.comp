#version 450
// One splat per invocation: lights it for every eye; the formulas are in docs/nnr-format.md under Shading.
layout(local_size_x = 64) in;

struct Lobe { float strength, shininess, shift, tint; };
struct Material {
    vec4 wrap;             // of red, green, blue; in w sheen
    vec4 occlusion_power;  // of red, green, blue; in w the floor
    vec4 rest;             // shadow, anisotropic, number of lobes
    Lobe lobes[3];
};
layout(std430, binding = 0) readonly buffer Frames { float frames[]; };
layout(std430, binding = 1) readonly buffer Means { float means[]; };
layout(std430, binding = 2) readonly buffer Looks { uvec4 looks[]; };  // albedo and occlusion; normal and gloss; tangent and material; triangle
layout(std430, binding = 3) readonly buffer Materials { Material materials[]; };
layout(std430, binding = 4) writeonly buffer Colors { float colors[]; };  // [eyes, pool, 3]

uniform uint count;
uniform uint first;   // of the scene's splats in the pool
uniform uint pooled;  // splats in the pool
uniform uint eyes;
uniform vec3 eye[4];
uniform vec3 sky;
uniform vec3 ground;
uniform uint light_count;
uniform vec3 directions[8];
uniform vec3 light_colors[8];

const float GAMMA = 2.2;
const float HUE_FLOOR = 0.01;
const float TINY = 1e-12;

vec3 unit(vec3 v) {
    return v * inversesqrt(max(dot(v, v), TINY));
}

float power(float base, float exponent) {
    return base <= 0.0 ? (exponent == 0.0 ? 1.0 : 0.0) : pow(base, exponent);
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    uvec4 look = looks[i];
    vec4 albedo_occlusion = unpackUnorm4x8(look.x);
    vec3 stored_normal = unpackSnorm4x8(look.y).xyz, stored_tangent = unpackSnorm4x8(look.z).xyz;
    float gloss = float(look.y >> 24) / 255.0;
    Material m = materials[look.z >> 24];
    uint k = 9u * look.w;
    mat3 frame = transpose(mat3(frames[k], frames[k + 1u], frames[k + 2u], frames[k + 3u], frames[k + 4u], frames[k + 5u], frames[k + 6u], frames[k + 7u], frames[k + 8u]));

    vec3 albedo = pow(albedo_occlusion.rgb, vec3(GAMMA));
    vec3 n = unit(frame * stored_normal);
    vec3 mean = vec3(means[3u * (first + i)], means[3u * (first + i) + 1u], means[3u * (first + i) + 2u]);
    vec3 open = m.occlusion_power.w + (1.0 - m.occlusion_power.w) * pow(vec3(albedo_occlusion.a), m.occlusion_power.rgb);
    vec3 arriving = 1.0 - m.rest.x * (1.0 - open);
    vec3 hemisphere = mix(ground, sky, 0.5 * (n.y + 1.0));
    bool strand = m.rest.y > 0.5;
    vec3 t = strand ? unit(frame * stored_tangent) : vec3(0.0);
    vec3 hue = albedo / max(max(albedo.r, max(albedo.g, albedo.b)), HUE_FLOOR);
    for (uint e = 0u; e < eyes; ++e) {
        vec3 v = unit(eye[e] - mean);
        float n_v = dot(n, v);
        float edge = 1.0 - clamp(n_v, 0.0, 1.0);
        edge *= edge;
        vec3 color = (albedo + m.wrap.w * edge * edge) * open * hemisphere;
        for (uint l = 0u; l < light_count; ++l) {
            float n_l = dot(n, directions[l]);
            vec3 diffuse = clamp((n_l + m.wrap.rgb) / (1.0 + m.wrap.rgb), 0.0, 1.0);
            vec3 h = unit(directions[l] + v);
            vec3 specular = vec3(0.0);
            for (uint j = 0u; j < uint(m.rest.z); ++j) {
                Lobe lobe = m.lobes[j];
                float highlight;
                if (strand) {
                    float along = dot(unit(t + lobe.shift * n), h);
                    highlight = power(max(1.0 - along * along, 0.0), 0.5 * lobe.shininess) * dot(diffuse, vec3(1.0 / 3.0));
                } else {
                    highlight = power(clamp(dot(n, h), 0.0, 1.0), lobe.shininess) * clamp(4.0 * n_l, 0.0, 1.0);
                }
                specular += lobe.strength * mix(vec3(1.0), hue, lobe.tint) * highlight;
            }
            if (strand) {
                float t_l = dot(t, directions[l]);
                diffuse *= sqrt(max(1.0 - t_l * t_l, 0.0));
            }
            color += light_colors[l] * arriving * (albedo * diffuse + gloss * specular);
        }
        color = pow(clamp(color, 0.0, 1.0), vec3(1.0 / GAMMA));
        uint at = 3u * (e * pooled + first + i);
        colors[at] = color.r;
        colors[at + 1u] = color.g;
        colors[at + 2u] = color.b;
    }
}
