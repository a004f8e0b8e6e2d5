"""The worker process: one role, one or few models, one gRPC server.

``python -m taoxr_models.worker ROLE --listen unix:PATH`` starts one. See `taoxr_models.worker.role`
for what a role has to offer, `taoxr_models.worker.model_thread` for how it runs its models.
"""

import os

# One thread per model: NumPy's BLAS would spin on cores that other workers need. Before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
