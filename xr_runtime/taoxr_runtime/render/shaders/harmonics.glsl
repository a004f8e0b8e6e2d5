// Real spherical harmonics of a unit direction, in the order and with the signs of 3D Gaussian Splatting.
void harmonics_of(vec3 direction, uint size, out float y[16]) {
    float x = direction.x, up = direction.y, z = direction.z;
    float xx = x * x, yy = up * up, zz = z * z;
    y[0] = 0.28209479;
    if (size > 1u) {
        y[1] = -0.48860251 * up;
        y[2] = 0.48860251 * z;
        y[3] = -0.48860251 * x;
    }
    if (size > 4u) {
        y[4] = 1.09254843 * x * up;
        y[5] = -1.09254843 * up * z;
        y[6] = 0.31539157 * (2.0 * zz - xx - yy);
        y[7] = -1.09254843 * x * z;
        y[8] = 0.54627422 * (xx - yy);
    }
    if (size > 9u) {
        y[9] = -0.59004359 * up * (3.0 * xx - yy);
        y[10] = 2.89061144 * x * up * z;
        y[11] = -0.45704580 * up * (4.0 * zz - xx - yy);
        y[12] = 0.37317633 * z * (2.0 * zz - 3.0 * xx - 3.0 * yy);
        y[13] = -0.45704580 * x * (4.0 * zz - xx - yy);
        y[14] = 1.44530572 * z * (xx - yy);
        y[15] = -0.59004359 * x * (xx - 3.0 * yy);
    }
}
