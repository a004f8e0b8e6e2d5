// Two vectors for each of `count` splats, word by word over all of them: halves in three words, or floats in six.
#if HALVES
const uint WORDS = 3u;
#define load_pair(words, at, even, odd) \
    { \
        vec2 a_ = unpackHalf2x16(words[at]), b_ = unpackHalf2x16(words[(at) + count]), c_ = unpackHalf2x16(words[(at) + 2u * count]); \
        even = vec3(a_, b_.x); \
        odd = vec3(b_.y, c_); \
    }
#else
const uint WORDS = 6u;
#define load_pair(words, at, even, odd) \
    { \
        even = uintBitsToFloat(uvec3(words[at], words[(at) + count], words[(at) + 2u * count])); \
        odd = uintBitsToFloat(uvec3(words[(at) + 3u * count], words[(at) + 4u * count], words[(at) + 5u * count])); \
    }
#endif
