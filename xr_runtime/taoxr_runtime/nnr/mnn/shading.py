"""MNN twin of the color node."""

import numpy as np

from taoxr_runtime.nnr.mnn.builder import Expr, GraphBuilder
from taoxr_runtime.nnr.nodes.color import Color
from taoxr_runtime.nnr.nodes.color_model import GAMMA, Group
from taoxr_runtime.nnr.nodes.shading import Shader


def color(node: Color, g: GraphBuilder) -> list[Expr]:
    """Each material's splats in one piece, then back in the scene's order."""
    frames, means, camera = g.inputs
    planes = frames.reshape(-1, 9).transpose(1, 0)
    to_camera = camera.reshape(3, 1) - means.transpose(1, 0)
    parts = [_shade(node.shader, group, g, planes, to_camera) for group in node.groups]
    order = np.argsort(np.concatenate([group.index for group in node.groups]))
    return [g.concat(parts, 1).transpose(1, 0).gather(order, 0)]


def _shade(shader: Shader, group: Group, g: GraphBuilder, planes: Expr, to_camera: Expr) -> Expr:
    m = group.material
    frame = planes.columns(group.triangle).reshape(3, 3, -1)
    n = _rotate(frame, group.normal)
    v = to_camera.columns(group.index)
    v = v / _dot(v, v).at_least(1e-12).sqrt()
    n_v = _dot(n, v)
    ambient = g.constant(group.ambient)
    if group.sheen is not None:
        edge = g.constant([[1.0]]) - n_v.clip(0, 1)
        edge = edge * edge
        ambient = ambient + edge * edge * group.sheen
    result = ambient * (n.rows(1, 2) * shader.slope + shader.base)
    if not len(shader.directions):
        return result.clip(1e-12, 1) ** (1 / GAMMA)

    n_l = g.constant(shader.directions) @ n
    diffuse = [((n_l + w) * (1 / (1 + w))).clip(0, 1) for w in m.wrap]
    weights = diffuse
    one = g.constant([[1.0]])
    t = None if group.tangent is None else _rotate(frame, group.tangent)
    t_l = None if t is None else g.constant(shader.directions) @ t
    if t_l is not None:
        across = (one - t_l * t_l).at_least(0).sqrt()
        weights = [d * across for d in diffuse]
    rows = [g.constant(shader.colors[:, c][None]) @ weights[c] for c in range(3)]
    result = result + g.stack_rows(rows) * group.direct

    inverse_h = one / ((g.constant(shader.directions) @ v) * 2.0 + 2.0).at_least(1e-12).sqrt()
    n_h = (n_l + n_v) * inverse_h
    for lobe, tinted in zip(m.lobes, group.lobes, strict=False):
        if t is None or t_l is None:
            facing = (n_l * 4.0).clip(0, 1)
            highlight = n_h.clip(0, 1) ** lobe.shininess
        else:
            facing = (diffuse[0] + diffuse[1] + diffuse[2]) * (1 / 3)
            t_h = (t_l + _dot(t, v)) * inverse_h
            length = (_dot(t, n) * (2 * lobe.shift) + (1 + lobe.shift**2)).at_least(1e-12).sqrt()
            along = (t_h + n_h * lobe.shift) / length
            highlight = (one - along * along).clip(0, 1) ** (lobe.shininess / 2)
        result = result + (g.constant(shader.colors.T) @ (highlight * facing)) * tinted
    return result.clip(1e-12, 1) ** (1 / GAMMA)


def _rotate(frame: Expr, local: "np.ndarray[tuple[int, ...], np.dtype[np.float32]]") -> Expr:
    return (frame * local[None]).sum(1)


def _dot(a: Expr, b: Expr) -> Expr:
    return (a * b).sum(0, keep=True)
