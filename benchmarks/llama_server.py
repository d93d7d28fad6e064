"""llama.cpp's server, from the package xllamacpp, with one model file.

    python benchmarks/llama_server.py MODEL.gguf [--port N] [--name NAME] [--slots N] [--key-env NAME]

Prints its address when it is ready and serves until it is stopped.
"""

from __future__ import annotations

import argparse
import os
import threading

#: Tokens of context for each of the simultaneous conversations.
CONTEXT = 2048


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    parser.add_argument("--name", default="model", help="what the server calls the model")
    parser.add_argument("--slots", type=int, default=4, help="conversations at once")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--key-env", help="the variable with the key that it asks for")
    options = parser.parse_args()

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = options.model
    params.model_alias = [options.name]
    params.port = options.port
    params.n_parallel = options.slots
    params.n_ctx = CONTEXT * options.slots
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    params.verbosity = 0
    if options.key_env:
        params.api_keys = [os.environ[options.key_env]]
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
