#version 450
// One instance per splat: the smallest triangle around its ellipse (three sides touch, so corners lie at 2 reaches).
struct Footprint {
    vec2 center;
    vec2 major;
    float minor;
    float reach;
    uint red_green;
    uint blue_opacity;
};
layout(std430, binding = 5) readonly buffer Footprints { Footprint footprints[]; };

uniform vec2 size;
#ifdef LAYERED
uniform uint count;   // instances of each eye; the second one's come after the first one's
uniform uint stride;  // from one eye's footprints to the next one's
#endif

// Not noperspective, though w is 1 throughout: Mesa 22.3's clipper then interpolates wrongly (0.5 off at worst).
out vec2 local;      // standard deviations from the centre, along the axes of the ellipse
flat out vec4 color; // opacity in w

const float SQRT3 = 1.7320508;

void main() {
#ifdef LAYERED
    gl_Layer = gl_InstanceID < int(count) ? 0 : 1;
    Footprint f = footprints[uint(gl_InstanceID) + uint(gl_Layer) * (stride - count)];
#else
    Footprint f = footprints[gl_InstanceID];
#endif
    vec2 corner = vec2(gl_VertexID == 0 ? 0.0 : gl_VertexID == 1 ? -SQRT3 : SQRT3, gl_VertexID == 0 ? 2.0 : -1.0);
    local = corner * f.reach;
    vec2 across = f.minor * normalize(vec2(-f.major.y, f.major.x));
    vec2 pixel = f.center + local.x * f.major + local.y * across;
    color = vec4(unpackUnorm2x16(f.red_green), unpackUnorm2x16(f.blue_opacity));
    // Row 0 of the target is the top of the picture: y is not turned round. Unseen splats go outside the clip volume.
    gl_Position = f.reach > 0.0 ? vec4(2.0 * pixel / size - 1.0, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}
