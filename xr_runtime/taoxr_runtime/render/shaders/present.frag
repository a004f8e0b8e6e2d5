#version 450
// Copies a canvas (premultiplied, sRGB-encoded, row 0 at the top) to a target whose row 0 is at the bottom.
// TO_LIGHT: the target holds light. ENCODED: it holds light, sRGB-encoded.
layout(binding = 0) uniform sampler2D canvas;

uniform ivec2 origin;  // of the target's lower left corner
uniform int height;
uniform float brightness_floor;  // what black becomes, sRGB-encoded

layout(location = 0) out vec4 premultiplied;

// IEC 61966-2-1.
vec3 decode(vec3 srgb) {
    return mix(pow((srgb + 0.055) / 1.055, vec3(2.4)), srgb / 12.92, lessThanEqual(srgb, vec3(0.04045)));
}

vec3 encode(vec3 light) {
    return mix(1.055 * pow(light, vec3(1.0 / 2.4)) - 0.055, light * 12.92, lessThanEqual(light, vec3(0.0031308)));
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy) - origin;
    vec4 color = texelFetch(canvas, ivec2(at.x, height - 1 - at.y), 0);
    color.rgb = mix(color.rgb, vec3(color.a), brightness_floor);
    // The curve holds for the colour itself, not for its product with alpha; rounding may take that over alpha.
    if (TO_LIGHT != 0 && color.a > 0.0) color.rgb = color.a * decode(min(color.rgb / color.a, 1.0));
    // What hides all behind it is the same, encoded, as before.
    if (ENCODED != 0 && color.a > 0.0 && color.a < 1.0) {
        color.rgb = encode(color.a * decode(min(color.rgb / color.a, 1.0)));
    }
    premultiplied = color;
}
