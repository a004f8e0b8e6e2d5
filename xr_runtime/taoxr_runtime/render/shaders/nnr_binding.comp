#version 450
// One splat per invocation: where its triangle carries it, and its covariance. Surface splats come first.
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Vertices { float vertices[]; };
layout(std430, binding = 1) readonly buffer Normals { float normals[]; };
layout(std430, binding = 2) readonly buffer Frames { float frames[]; };
layout(std430, binding = 3) readonly buffer Triangles { uint triangles[]; };
layout(std430, binding = 4) readonly buffer Places { vec4 places[]; };   // weights of corners 1 and 2, subdivision; or offset
layout(std430, binding = 5) readonly buffer Extents { vec4 extents[]; };  // of strands: axis and width; in the first w: see below
layout(std430, binding = 6) writeonly buffer Means { float means[]; };
layout(std430, binding = 7) writeonly buffer Covariances { float covariances[]; };

uniform uint count;
uniform uint first;  // of the scene's splats in the pool
uniform uint surface;  // splats that are no strands
uniform float phong;
uniform float spread;
uniform float thin;

const float DEGENERATE = 1e-12;
const float PI = 3.14159265;

vec3 vertex(uint v) {
    return vec3(vertices[3u * v], vertices[3u * v + 1u], vertices[3u * v + 2u]);
}

vec3 normal(uint v) {
    return vec3(normals[3u * v], normals[3u * v + 1u], normals[3u * v + 2u]);
}

mat3 frame(uint t) {
    uint k = 9u * t;
    return transpose(mat3(frames[k], frames[k + 1u], frames[k + 2u], frames[k + 3u], frames[k + 4u], frames[k + 5u], frames[k + 6u], frames[k + 7u], frames[k + 8u]));
}

void write(uint i, vec3 mean, mat3 world) {
    i += first;
    means[3u * i] = mean.x;
    means[3u * i + 1u] = mean.y;
    means[3u * i + 2u] = mean.z;
    covariances[6u * i] = world[0][0];
    covariances[6u * i + 1u] = world[0][1];
    covariances[6u * i + 2u] = world[0][2];
    covariances[6u * i + 3u] = world[1][1];
    covariances[6u * i + 4u] = world[1][2];
    covariances[6u * i + 5u] = world[2][2];
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    vec4 place = places[i];
    uint t = floatBitsToUint(place.w);
    uvec3 corners = uvec3(triangles[3u * t], triangles[3u * t + 1u], triangles[3u * t + 2u]);
    vec3 p0 = vertex(corners.x);
    if (i >= surface) {
        vec4 extent = extents[i - surface];
        mat3 turn = frame(t);
        vec3 axis = turn * extent.xyz;
        write(i, p0 + turn * place.xyz, mat3(extent.w * extent.w) + outerProduct(axis, axis));
        return;
    }
    vec3 p1 = vertex(corners.y), p2 = vertex(corners.z);
    vec3 n0 = normal(corners.x), n1 = normal(corners.y), n2 = normal(corners.z);
    vec3 b = vec3(1.0 - place.x - place.y, place.xy);
    vec3 e1 = p1 - p0, e2 = p2 - p0;
    vec3 point = b.x * p0 + b.y * p1 + b.z * p2;
    // Phong tessellation: the heights over the corners' tangent planes.
    vec3 heights = vec3(dot(point - p0, n0), dot(point - p1, n1), dot(point - p2, n2));
    vec3 mean = point - phong * (b.x * heights.x * n0 + b.y * heights.y * n1 + b.z * heights.z * n2);

    vec3 z = cross(e1, e2);
    float double_area = length(z);
    z /= max(double_area, DEGENERATE);
    if (double_area <= DEGENERATE) z = vec3(0.0, 0.0, 1.0);
    float parts = place.z * place.z;
    mat3 flat_part = outerProduct(2.0 * e1 - e2, e1) + outerProduct(2.0 * e2 - e1, e2);
    flat_part = 0.5 * (flat_part + transpose(flat_part));
    write(i, mean, spread / 36.0 / parts * flat_part + thin * thin * double_area / (2.0 * PI * parts) * outerProduct(z, z));
}
