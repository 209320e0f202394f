"""HTTP for models: pooled connections that another thread can end at any moment.

It stands on httpcore2, the transport below httpx2. Nothing here is imported before the first call.
"""
