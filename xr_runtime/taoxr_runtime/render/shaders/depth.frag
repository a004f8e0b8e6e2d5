#version 450
// Nothing but the depth is kept.

void main() {}
