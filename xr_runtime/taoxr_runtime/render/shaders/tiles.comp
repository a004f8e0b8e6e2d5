#version 450
// One workgroup per tile of 8x16 pixels, one invocation per column: blends the tile's splats front to back in
// registers and stops when nothing behind shows. Eight invocations fill one vector of a software driver, and
// sixteen rows share the cost of loading a splat.
layout(local_size_x = 8) in;

struct Footprint {
    vec2 center;
    vec2 major;
    float minor;
    float reach;
    uint red_green;
    uint blue_opacity;
};
layout(std430, binding = 5) readonly buffer Footprints { Footprint footprints[]; };
layout(std430, binding = 6) readonly buffer Starts { uint starts[]; };   // per tile, and one past the last
layout(std430, binding = 7) readonly buffer Members { uint members[]; };  // ranks, back to front in each tile

// For tests: how many entries of its list each tile looked at.
#ifdef VISITS
layout(std430, binding = 4) buffer Visits { uint visits[]; };
#endif

layout(binding = 0) uniform sampler2D behind;
layout(binding = 0) writeonly uniform image2D picture;  // the same texture

uniform uint tiles_across;

const int ROWS = 16;
const float MIN_ALPHA = 1.0 / 255.0;
const float OPAQUE = 1.0 / 1024.0;  // what is behind changes no pixel by more than a quarter of a step

void main() {
    uint tile = gl_WorkGroupID.y * tiles_across + gl_WorkGroupID.x;
    ivec2 first = ivec2(gl_WorkGroupID.xy) * ivec2(8, ROWS) + ivec2(gl_LocalInvocationID.x, 0);
    vec2 pixel = vec2(first) + 0.5;
    vec4 sum[ROWS];  // premultiplied colour; in w what still shines through
    for (int row = 0; row < ROWS; ++row) sum[row] = vec4(0.0, 0.0, 0.0, 1.0);

    uint start = starts[tile];
    float clearest = 1.0;
    uint at = starts[tile + 1];
    for (; at > start && clearest > OPAQUE; --at) {
        Footprint f = footprints[members[at - 1]];
        vec4 color = vec4(unpackUnorm2x16(f.red_green), unpackUnorm2x16(f.blue_opacity));
        float squared = dot(f.major, f.major);
        vec2 along = f.major / squared;
        vec2 across = vec2(-f.major.y, f.major.x) / (sqrt(squared) * f.minor);
        vec2 offset = pixel - f.center;
        vec2 local = vec2(dot(along, offset), dot(across, offset));
        vec2 down = vec2(along.y, across.y);
        clearest = 0.0;
        for (int row = 0; row < ROWS; ++row) {
            float alpha = color.w * exp(-0.5 * dot(local, local));
            alpha = alpha < MIN_ALPHA ? 0.0 : alpha;
            local += down;
            float weight = alpha * sum[row].w;
            sum[row].rgb += weight * color.rgb;
            sum[row].w -= weight;
            clearest = max(clearest, sum[row].w);
        }
    }
#ifdef VISITS
    atomicMax(visits[tile], starts[tile + 1] - at);
#endif
    ivec2 size = imageSize(picture);
    for (int row = 0; row < ROWS; ++row) {
        ivec2 at = first + ivec2(0, row);
        if (at.x < size.x && at.y < size.y) {
            vec4 under = texelFetch(behind, at, 0);
            imageStore(picture, at, vec4(sum[row].rgb, 1.0 - sum[row].w) + sum[row].w * under);
        }
    }
}
