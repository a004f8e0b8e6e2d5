#version 450
// Blended by the fixed function as source + (1 - alpha) * target, in the encoding of the colours (sRGB).
in vec2 local;
flat in vec4 color;
layout(location = 0) out vec4 premultiplied;

void main() {
    float alpha = color.w * exp(-0.5 * dot(local, local));
    if (alpha < 1.0 / 255.0) discard;
    premultiplied = vec4(color.rgb * alpha, alpha);
}
