"""The worker process: one role, one or few models, one gRPC server.

``python -m taoxr_models.worker ROLE --listen unix:PATH`` starts one. See `taoxr_models.worker.role`
for what a role has to offer, `taoxr_models.worker.model_thread` for how it runs its models.
"""
