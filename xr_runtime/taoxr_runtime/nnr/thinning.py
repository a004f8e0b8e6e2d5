"""Smaller scenes: fewer, larger splats in place of all, chosen by the order of importance that a file stores.

What is left out here costs the nodes nothing, unlike what `taoxr_runtime.render.lod` leaves out when a frame
is drawn.
"""

import json

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.nnr import container as containers
from taoxr_runtime.nnr.container import Container, Tensor
from taoxr_runtime.nnr.errors import ThinningError
from taoxr_runtime.nnr.graph import Graph, build
from taoxr_runtime.nnr.nodes.model import Model


def kept(container: Container, count: int, share: float) -> NDArray[np.intp]:
    """Which splats a smaller scene keeps: the most important, or evenly spaced ones where none are known.

    Args:
        container: A scene.
        count: How many splats it has.
        share: What share of them to keep, over 0 and up to 1.

    Returns:
        Numbers of splats, ascending; the fewer, the same ones without some.
    """
    most = min(max(round(share * count), 1), count)
    if container.scene.importance is None:
        return np.arange(most) * count // most
    importance = container.tensors[container.scene.importance]
    return np.sort(np.argsort(255 - importance, kind="stable")[:most])


def thinned(container: Container, share: float, graph: Graph | None = None) -> Container:
    """A scene with fewer splats that looks much the same; inputs and nodes stay as they are.

    Args:
        container: A scene.
        share: What share of its splats to keep, over 0 and up to 1.
        graph: Its graph, where it is built already.

    Raises:
        InvalidInputError: There is no such share.
        ThinningError: A node of the file's own makes or takes something for each splat.
        NnrFormatError: The graph breaks the format.
    """
    if not 0 < share <= 1:
        raise InvalidInputError("share", share, "over 0, up to 1")
    graph = build(container) if graph is None else graph
    _check_models(graph)
    stay = kept(container, graph.count, share)
    document = json.loads(container.scene.model_dump_json(exclude_unset=True, exclude={"tensors", "models"}))
    tensors: dict[str, Tensor] = {}
    for i, (step, spec) in enumerate(zip(graph.steps, container.scene.nodes, strict=True)):
        own = {key: container.tensors[entry] for key, entry in spec.tensors.items()}
        attributes, own = step.node.thinned(spec.attributes, own, stay)
        # Names of their own, as nodes that shared a tensor may have thinned it differently.
        names = {key: f"tensors/{i}.{key}.npy" for key in own}
        tensors |= {names[key]: tensor for key, tensor in own.items()}
        document["nodes"][i] |= {"attributes": attributes, "tensors": names}
    if container.scene.importance is not None:
        tensors[container.scene.importance] = container.tensors[container.scene.importance][stay]
    return containers.from_bytes(containers.to_bytes(document, tensors, container.models))


def _check_models(graph: Graph) -> None:
    for i, step in enumerate(graph.steps):
        if not isinstance(step.node, Model):
            continue
        for name in (*step.inputs, *step.outputs):
            if graph.shapes[name][:1] == (graph.count,):
                raise ThinningError(
                    f"node {i} is the file's own model and has {name!r} for each of {graph.count} splats: "
                    "it cannot run with fewer"
                )
