"""Where a cluster is, looked at before its library waits for it for minutes."""

from __future__ import annotations

import socket

from ragdatakit.schemas.errors import EngineError

_SECONDS = 15
_RAY_KNOWS = ("auto", "local")
_SPARK_KNOWS = ("local", "yarn", "k8s://", "mesos://", "sc://")


def answers_of_ray(address: str) -> bool:
    """Whether somebody answers at an address of Ray, as far as it is looked at. Raises `EngineError` where nobody does,
    or it is no address."""
    if not address or address in _RAY_KNOWS or "://" in address:
        return False
    _refuse_silence("Ray", address)
    return True


def refuse_wrong_master(master: str) -> None:
    """Raises `EngineError` where a master of Spark is of no form that it knows, or where nobody answers."""
    if master.startswith(_SPARK_KNOWS):
        return
    if not master.startswith("spark://"):
        raise EngineError(f"Spark: {master} is no master; give spark://HOST:PORT, yarn, k8s://…, sc://… or local[N]")
    several = master.removeprefix("spark://").split(",")
    if len(several) == 1:  # of several any may be down
        _refuse_silence("Spark", several[0])


def _refuse_silence(library: str, address: str) -> None:
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise EngineError(f"{library}: {address} has no port; give HOST:PORT")
    try:
        socket.create_connection((host, int(port)), timeout=_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise EngineError(
            f"{library}: nothing answers at {address} ({getattr(error, 'strerror', None) or error})"
        ) from None
