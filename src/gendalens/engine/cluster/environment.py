"""The environment that Ray's own processes are started with, which all its workers inherit."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

#: What a process needs to find its programs, its packages, the models on disk and the graphics cards.
#: Keys and tokens are not among them, nor are addresses of proxies, which may hold a password.
_KEPT = frozenset(
    """PATH HOME USER LOGNAME LANG LANGUAGE TZ TMPDIR PYTHONPATH PYTHONHOME VIRTUAL_ENV CONDA_PREFIX
    LD_LIBRARY_PATH CUDA_HOME CUDA_VISIBLE_DEVICES HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES
    GENDALENS_HOME GENDALENS_PLUGINS HF_HOME HF_HUB_CACHE HF_HUB_OFFLINE TRANSFORMERS_OFFLINE
    XDG_CACHE_HOME SSL_CERT_FILE REQUESTS_CA_BUNDLE SYSTEMROOT""".split()  # noqa: SIM905
)
#: No statistics are sent, no line is printed about them, and a busy computer has time to start.
_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_USAGE_STATS_PROMPT_ENABLED": "0",
    "RAY_gcs_server_port_wait_time_s": "60",
}


def reduce_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What of an environment a cluster that is started here inherits."""
    kept = {
        name: value
        for name, value in environment.items()
        if name in _KEPT or name.startswith("LC_")
    }
    return kept | _SETTINGS


@contextmanager
def reduced_environment(more: Mapping[str, str]) -> Iterator[None]:
    """Reduce this process's environment while it starts others, which get ``more`` as well."""
    whole = dict(os.environ)
    _replace(reduce_environment(whole) | dict(more))
    try:
        yield
    finally:
        _replace(whole)


def _replace(environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
