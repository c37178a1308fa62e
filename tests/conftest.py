"""Settings of all tests: hypothesis measures no time (CI machines stall), and gives the same examples every time."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ragdata", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("ragdata")
if hasattr(signal, "SIGHUP"):  # a run under nohup would hand "ignored" down to the commands that are to be stopped
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def small_tables_of_names() -> Iterator[None]:
    """The pages of a table of a million names cost more than a small dataset; in a small one more names share places.

    Tests of the table itself, and the command run as a process, have it as it is.
    """
    from ragdatakit.columnar.numpy_keys import NumpyConsistency

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NumpyConsistency, "_BITS", 6)
        yield


@pytest.fixture(scope="module")
def outputs_of_a_sound_machine() -> Iterator[None]:
    """For modules of a thousand conversions: no process that cleans up after a kill, no waiting for the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragdatakit.outputs.staging._companion", lambda folder: None)
        patch.setattr("os.fsync", lambda handle: None)
        yield
