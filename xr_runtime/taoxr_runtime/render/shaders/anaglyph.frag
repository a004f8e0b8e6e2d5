#version 450
// Both eyes' pictures in one, for red-cyan glasses. Twin of stereo.anaglyph.
layout(binding = 0) uniform sampler2D left;
layout(binding = 1) uniform sampler2D right;

uniform vec2 origin;  // of the target's lower left corner, pixels
uniform vec2 size;
uniform vec3 left_weights[3];  // rows: what an eye's linear RGB adds to red, green and blue
uniform vec3 right_weights[3];

layout(location = 0) out vec4 opaque;

// IEC 61966-2-1.
vec3 decode(vec3 srgb) {
    return mix(pow((srgb + 0.055) / 1.055, vec3(2.4)), srgb / 12.92, lessThanEqual(srgb, vec3(0.04045)));
}
vec3 encode(vec3 light) {
    return mix(1.055 * pow(light, vec3(1.0 / 2.4)) - 0.055, light * 12.92, lessThanEqual(light, vec3(0.0031308)));
}

void main() {
    vec2 at = (gl_FragCoord.xy - origin) / size;
    vec3 l = decode(texture(left, at).rgb), r = decode(texture(right, at).rgb);
    vec3 light;
    for (int row = 0; row < 3; ++row) light[row] = dot(left_weights[row], l) + dot(right_weights[row], r);
    opaque = vec4(encode(clamp(light, 0.0, 1.0)), 1.0);
}
