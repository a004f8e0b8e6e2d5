"""Runs MNN's LLM engine once, in a process of its own, because a second one in a process dies silently.

    python mnn_logits.py FOLDER REQUEST.json RESULT.npz

The request holds ``texts`` to encode and ``prefill`` and ``decode`` ids to run; the result holds
``encoded_N`` and ``logits`` float32 [1 + len(decode), vocabulary] (after prefill and each decoded id).
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

from taoxr.engine._mnn import mnn, stdout_to_stderr


def main() -> None:
    folder, request, result = (Path(a) for a in sys.argv[1:])
    wanted = json.loads(request.read_text())
    mnn()
    with stdout_to_stderr():
        import MNN.llm

        engine = MNN.llm.create(str(folder / "config.json"))._c_obj
        if not engine.load():
            sys.exit("MNN refused the folder")
        arrays = {f"encoded_{i}": np.array(engine.tokenizer_encode(t)) for i, t in enumerate(wanted["texts"])}
        steps = [wanted["prefill"], *([i] for i in wanted["decode"])] if wanted["prefill"] else []
        engine.generate_init()
        rows = [np.array(engine.forward(step).read(), copy=True).ravel() for step in steps]
    np.savez(result, **arrays, logits=np.array(rows, np.float32))
    sys.stdout.flush()
    os._exit(0)  # MNN crashes when its engine is destroyed at exit


main()
