"""How hard hypothesis looks: the same slice at every run, and far more of it in the deep one."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Each test has a fresh home (see isolation.py), which the examples of one test may share.
_ALWAYS = settings(
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

settings.register_profile("slice", _ALWAYS, max_examples=60, derandomize=True)
settings.register_profile("deep", _ALWAYS, max_examples=600, database=None)
settings.load_profile("slice")
