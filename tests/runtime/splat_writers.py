"""The least that a file of each splat format must hold, written by hand from the formats' descriptions.

Each function takes rows as `random_rows` makes them: what the format stores before it rounds.
"""

import gzip
import io
import json
import struct
import zipfile
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

SH0 = 0.28209479177387814
TERMS = {0: 0, 1: 3, 2: 8, 3: 15}


@dataclass(frozen=True)
class Rows:
    """N splats.

    Attributes:
        means: [N, 3].
        quaternions: [N, 4], (w, x, y, z), unit.
        sigmas: [N, 3].
        opacities: [N].
        constant: [N, 3], coefficients of the constant harmonic.
        higher: [N, 0, 3, 8 or 15, 3], those of the others.
    """

    means: np.ndarray
    quaternions: np.ndarray
    sigmas: np.ndarray
    opacities: np.ndarray
    constant: np.ndarray
    higher: np.ndarray

    def first(self, count: int) -> "Rows":
        return Rows(*(getattr(self, field)[:count] for field in self.__dataclass_fields__))


def random_rows(count: int = 300, degree: int = 3, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    quaternions = rng.normal(size=(count, 4))
    return Rows(
        rng.uniform(-1, 1, (count, 3)),
        quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True),
        np.exp(rng.uniform(-5, -2, (count, 3))),
        rng.uniform(0.05, 0.95, count),
        rng.uniform(-1, 1, (count, 3)),
        rng.uniform(-0.3, 0.3, (count, TERMS[degree], 3)),
    )


def logit(opacities: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(opacities) - np.log1p(-opacities)


def ply(rows: Rows, normals: bool = True) -> bytes:
    """As Inria's trainer writes it."""
    count = len(rows.means)
    rest = rows.higher.transpose(0, 2, 1).reshape(count, -1)  # all of red, all of green, all of blue
    columns = {
        **dict(zip("xyz", rows.means.T, strict=True)),
        **({name: np.zeros(count) for name in ("nx", "ny", "nz")} if normals else {}),
        **{f"f_dc_{i}": column for i, column in enumerate(rows.constant.T)},
        **{f"f_rest_{i}": column for i, column in enumerate(rest.T)},
        "opacity": logit(rows.opacities),
        **{f"scale_{i}": column for i, column in enumerate(np.log(rows.sigmas).T)},
        **{f"rot_{i}": column for i, column in enumerate(2.5 * rows.quaternions.T)},
    }
    head = [
        "ply", "format binary_little_endian 1.0", f"element vertex {count}",
        *(f"property float {name}" for name in columns), "end_header", "",
    ]  # fmt: skip
    table = np.stack(list(columns.values()), axis=1).astype("<f4")
    return "\n".join(head).encode() + table.tobytes()


def dot_splat(rows: Rows) -> bytes:
    table = np.zeros(len(rows.means), [("m", "<f4", 3), ("s", "<f4", 3), ("c", "u1", 4), ("q", "u1", 4)])
    table["m"], table["s"] = rows.means, rows.sigmas
    color = np.column_stack([0.5 + SH0 * rows.constant, rows.opacities])
    table["c"] = np.clip(np.round(color * 255), 0, 255)
    table["q"] = np.clip(np.round(rows.quaternions * 128 + 128), 0, 255)
    return table.tobytes()


def compressed_ply(rows: Rows) -> bytes:
    """PlayCanvas's form: chunks of 256 splats, each with its bounds."""
    count = len(rows.means)
    logs, colors = np.log(rows.sigmas), 0.5 + SH0 * rows.constant
    chunks, packed = [], []
    for start in range(0, count, 256):
        part = slice(start, start + 256)
        bounds = [(a[part].min(0), a[part].max(0)) for a in (rows.means, logs, colors)]
        chunks.append(np.concatenate([edge for pair in bounds for edge in pair]))
        mean, log, color = (
            (a[part] - low) / np.maximum(high - low, 1e-9)
            for a, (low, high) in zip((rows.means, logs, colors), bounds, strict=True)
        )
        rgba = _bits(np.column_stack([color, rows.opacities[part]]), (8, 8, 8, 8))
        rotation = _three_smallest(rows.quaternions[part])
        packed.append(np.stack([_bits(mean, (11, 10, 11)), rotation, _bits(log, (11, 10, 11)), rgba], axis=1))
    names = [f"{edge}_{axis}" for edge in ("min", "max") for axis in "xyz"]
    names += [f"{edge}_scale_{axis}" for edge in ("min", "max") for axis in "xyz"]
    names += [f"{edge}_{axis}" for edge in ("min", "max") for axis in "rgb"]
    sh = rows.higher.transpose(0, 2, 1).reshape(count, -1)
    head = ["ply", "format binary_little_endian 1.0", f"element chunk {len(chunks)}"]
    head += [f"property float {name}" for name in names]
    head += [f"element vertex {count}"]
    head += [f"property uint packed_{name}" for name in ("position", "rotation", "scale", "color")]
    if sh.size:
        head += [f"element sh {count}", *(f"property uchar f_rest_{i}" for i in range(sh.shape[1]))]
    body = np.array(chunks).astype("<f4").tobytes() + np.concatenate(packed).astype("<u4").tobytes()
    body += np.clip(np.floor((sh / 8 + 0.5) * 256), 0, 255).astype("u1").tobytes()
    return "\n".join([*head, "end_header", ""]).encode() + body


def spz(rows: Rows, version: int = 2, fraction_bits: int = 12) -> bytes:
    """Versions 1 to 3: one gzip stream of columns."""
    count, degree = len(rows.means), {v: k for k, v in TERMS.items()}[rows.higher.shape[1]]
    head = struct.pack("<4sIIBBBB", b"NGSP", version, count, degree, fraction_bits, 0, 0)
    if version == 1:
        means = rows.means.astype("<f2").tobytes()
    else:
        fixed = np.round(rows.means * (1 << fraction_bits)).astype("<i4")
        means = fixed.view("u1").reshape(count, 3, 4)[:, :, :3].tobytes()
    if version < 3:
        xyz = rows.quaternions[:, 1:] * np.where(rows.quaternions[:, :1] < 0, -1, 1)
        rotation = _byte(xyz * 127.5 + 127.5)
    else:
        rotation = _spz_three_smallest(rows.quaternions).astype("<u4").tobytes()
    body = means + _byte(rows.opacities * 255) + _byte(rows.constant * 0.15 * 255 + 127.5)
    body += _byte((np.log(rows.sigmas) + 10) * 16) + rotation + _byte(rows.higher * 128 + 128)
    return gzip.compress(head + body)


def sog(rows: Rows) -> bytes:
    """Version 2: a zip of lossless WebP pictures, a pixel for each splat."""
    count = len(rows.means)
    side = int(np.ceil(np.sqrt(count)))
    logs = np.sign(rows.means) * np.log1p(np.abs(rows.means))
    low, high = logs.min(0), logs.max(0)
    words = np.round((logs - low) / (high - low) * 65535).astype(int)
    scales, scale_book = _book(np.log(rows.sigmas))
    colors, color_book = _book(rows.constant)
    mode, three = _largest(rows.quaternions)
    files = {
        "means_l.webp": _picture(words & 255, 255, side),
        "means_u.webp": _picture(words >> 8, 255, side),
        "scales.webp": _picture(scales, 255, side),
        "quats.webp": _picture(np.round((three / np.sqrt(2) + 0.5) * 255), 252 + mode, side),
        "sh0.webp": _picture(colors, np.round(rows.opacities * 255), side),
    }
    meta = {
        "version": 2, "count": count, "antialias": False,
        "means": {"mins": low.tolist(), "maxs": high.tolist(), "files": ["means_l.webp", "means_u.webp"]},
        "scales": {"codebook": scale_book, "files": ["scales.webp"]},
        "quats": {"files": ["quats.webp"]},
        "sh0": {"codebook": color_book, "files": ["sh0.webp"]},
    }  # fmt: skip
    if rows.higher.shape[1]:
        # One palette entry for each splat; 64 of them side by side in a row of the picture.
        higher, book = _book(rows.higher)
        wide = np.zeros((-(-count // 64) * 64, rows.higher.shape[1], 3), int)
        wide[:count] = higher
        palette = np.full((len(wide) // 64, 64 * rows.higher.shape[1], 4), 255, np.uint8)
        palette[..., :3] = wide.reshape(len(wide) // 64, -1, 3)
        labels = np.arange(count)
        files["shN_centroids.webp"] = _webp(palette)
        files["shN_labels.webp"] = _picture(np.stack([labels & 255, labels >> 8, 0 * labels], 1), 255, side)
        bands = {3: 1, 8: 2, 15: 3}[rows.higher.shape[1]]
        names = ["shN_centroids.webp", "shN_labels.webp"]
        meta["shN"] = {"count": count, "bands": bands, "codebook": book, "files": names}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("meta.json", json.dumps(meta))
        for name, data in files.items():
            archive.writestr(name, data)
    return target.getvalue()


def damaged(rows: Rows) -> Rows:
    """Row 0 has NaN as its place, row 1 infinite colour, row 2 no rotation, row 3 is 10 km away."""
    means, constant, quaternions = rows.means.copy(), rows.constant.copy(), rows.quaternions.copy()
    means[0, 1], constant[1, 2], quaternions[2], means[3, 0] = np.nan, np.inf, 0, 1e4
    return replace(rows, means=means, constant=constant, quaternions=quaternions)


def _byte(values: np.ndarray) -> bytes:
    return np.clip(np.round(values), 0, 255).astype("u1").tobytes()


def _bits(values: np.ndarray, widths: tuple[int, ...]) -> np.ndarray:
    """Columns from 0 to 1 side by side in one number, the first one highest."""
    packed = np.zeros(len(values), np.uint64)
    for column, width in zip(values.T, widths, strict=True):
        packed = packed << np.uint64(width) | np.round(column * ((1 << width) - 1)).astype(np.uint64)
    return packed


def _largest(quaternions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which component (w, x, y, z) is the largest, and the three others with its sign taken off."""
    which = np.abs(quaternions).argmax(axis=1)
    rows = np.arange(len(quaternions))
    signed = quaternions * np.where(quaternions[rows, which] < 0, -1, 1)[:, None]
    others = np.array([[k for k in range(4) if k != w] for w in which])
    return which, signed[rows[:, None], others]


def _three_smallest(quaternions: np.ndarray) -> np.ndarray:
    which, three = _largest(quaternions)
    return which.astype(np.uint64) << np.uint64(30) | _bits(three / np.sqrt(2) + 0.5, (10, 10, 10))


def _spz_three_smallest(quaternions: np.ndarray) -> np.ndarray:
    """Components in the order x, y, z, w; each of the three others has a sign and nine bits."""
    turned = quaternions[:, [1, 2, 3, 0]]
    which, three = _largest(turned)
    packed = which.astype(np.uint64)
    for column in three.T:
        size = np.minimum(np.round(np.abs(column) * np.sqrt(2) * 511), 511).astype(np.uint64)
        packed = packed << np.uint64(10) | (column < 0).astype(np.uint64) << np.uint64(9) | size
    return packed


def _book(values: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """Numbers of the nearest of 256 evenly spaced values, and these."""
    book = np.linspace(values.min(), values.max(), 256)
    return np.round((values - book[0]) / (book[-1] - book[0]) * 255).astype(int), book.tolist()


def _picture(rgb: np.ndarray, alpha: np.ndarray | int, side: int) -> bytes:
    pixels = np.zeros((side * side, 4), np.uint8)
    pixels[: len(rgb), :3] = rgb
    pixels[: len(rgb), 3] = alpha
    return _webp(pixels.reshape(side, side, 4))


def _webp(pixels: np.ndarray) -> bytes:
    target = io.BytesIO()
    Image.fromarray(pixels, "RGBA").save(target, "WEBP", lossless=True, exact=True)
    return target.getvalue()
