// Which tiles an ellipse touches. Tiles are numbered by rows, one eye after the other.
struct Footprint {
    vec2 center;     // pixels from the top left
    float form_xx;   // log2 of 1 / alpha grows by xx dx dx + 2 xy dx dy + yy dy dy
    float form_xy;
    float form_yy;
    float peak;      // log2 of alpha at the centre
    uint color;      // red, green and blue of 10 bits each
    uint half_size;  // of its box in pixels, two halves
};

const float LOG2_MIN_ALPHA = -7.9943534;
const ivec2 TILE = ivec2(TILE_WIDTH, TILE_HEIGHT);

// Least that log2(1 / alpha) grows by between two corners, relative to the centre; form: xx, 2 xy, yy.
float least_growth(vec4 form, vec2 low, vec2 high) {
    vec2 near = clamp(vec2(0.0), low, high);
    if (near == vec2(0.0)) return 0.0;
    float least = 1e30;
    // The least of a convex form lies on an edge that faces the centre.
    if (near.x != 0.0) {
        float y = clamp(-0.5 * form.y * near.x / form.z, low.y, high.y);
        least = form.x * near.x * near.x + y * (form.y * near.x + form.z * y);
    }
    if (near.y != 0.0) {
        float x = clamp(-0.5 * form.y * near.y / form.x, low.x, high.x);
        least = min(least, form.z * near.y * near.y + x * (form.y * near.y + form.x * x));
    }
    return least;
}

// First and last tile of the box, as x y, x y.
ivec4 tile_box(Footprint f, ivec2 tiles) {
    vec2 half_size = unpackHalf2x16(f.half_size);
    vec4 box = vec4(f.center - half_size, f.center + half_size) / vec4(TILE, TILE);
    return ivec4(clamp(box, vec4(0.0), vec4(tiles - 1, tiles - 1)));
}

bool touches(Footprint f, ivec2 tile) {
    vec2 low = vec2(tile * TILE) + 0.5 - f.center;
    vec4 form = vec4(f.form_xx, 2.0 * f.form_xy, f.form_yy, 0.0);
    return least_growth(form, low, low + vec2(TILE - 1)) <= (f.peak - LOG2_MIN_ALPHA) * 1.001;
}
