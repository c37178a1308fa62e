"""Settings of all tests: hypothesis measures no time (CI machines stall), and gives the same examples every time."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "ragdata", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("ragdata")
