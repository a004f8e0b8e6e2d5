"""The language model's role: chat with one KV cache, streamed token by token."""
