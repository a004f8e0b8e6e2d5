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

// Least that log2(1 / alpha) grows by at the centres of a tile's pixels.
float least_growth(Footprint f, ivec2 tile) {
    vec2 low = vec2(tile * TILE) + 0.5 - f.center;
    vec2 high = low + vec2(TILE - 1);
    vec2 near = clamp(vec2(0.0), low, high);
    if (near == vec2(0.0)) return 0.0;
    float least = 1e30;
    // The least of a convex form lies on an edge that faces the centre.
    if (near.x != 0.0) {
        float y = clamp(-f.form_xy * near.x / f.form_yy, low.y, high.y);
        least = f.form_xx * near.x * near.x + y * (2.0 * f.form_xy * near.x + f.form_yy * y);
    }
    if (near.y != 0.0) {
        float x = clamp(-f.form_xy * near.y / f.form_xx, low.x, high.x);
        least = min(least, f.form_yy * near.y * near.y + x * (2.0 * f.form_xy * near.y + f.form_xx * x));
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
    return least_growth(f, tile) <= (f.peak - LOG2_MIN_ALPHA) * 1.001;
}
