"""Gemma's likelihoods by llama.cpp's server and at home: how far apart, and why.

    python benchmarks/server_likelihoods.py [--triples N]

The server ignores ``echo``, but forcing a token by ``logit_bias`` gives its log-probability. So every
token of some sentences of the built-in ABC set is asked for alone, and compared with the same weights in
float32 at home: the four-bit file with and without the server's cache of prompts, the same weights
written as 32-bit numbers, and a prompt without BOS. Needs the environment of real_servers.py.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean, median
from typing import Any
from urllib.request import Request, urlopen

import real_servers

_FORCED = 1e6
#: Prints the ids and the log-probabilities of the tokens of each sentence, with and without BOS.
_AT_HOME = """
import json, sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
folder, texts = sys.argv[1], json.load(sys.stdin)
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
found = []
for text in texts:
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    values = []
    for row in ([tokenizer.bos_token_id, *ids], ids):
        with torch.inference_mode():
            scores = torch.log_softmax(model(torch.tensor([row])).logits[0], -1)
        values.append([float(scores[at - 1, row[at]]) for at in range(1, len(row))])
    found.append([tokenizer.bos_token_id, ids, *values])
print(json.dumps(found))
"""
#: Writes a quantised file again with 32-bit numbers.
_UNPACK = """
import sys
import gguf
reader = gguf.GGUFReader(sys.argv[1])
kept = {field.name: field for field in reader.fields.values() if not field.name.startswith("GGUF.")}
writer = gguf.GGUFWriter(sys.argv[2], kept.pop("general.architecture").contents())
kept.pop("general.file_type", None)
for name, field in kept.items():
    inner = field.types[-1] if len(field.types) > 1 else None
    writer.add_key_value(name, field.contents(), field.types[0], sub_type=inner)
for tensor in reader.tensors:
    writer.add_tensor(tensor.name, gguf.quants.dequantize(tensor.data, tensor.tensor_type))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
"""


def list_sentences(count: int) -> list[tuple[str, str]]:
    """The *hans* and the *hendes* sentence of some triples of the built-in set."""
    from gendalens.data.choice import read_choices
    from gendalens.engine.run_options import RunOptions
    from gendalens.tasks import get_task

    options = RunOptions(data=read_choices("builtin"), sample=count)
    return [(item.male, item.female) for item in options.plan(get_task("lm-abc", 2)).items]


def score_at_home(
    folder: Path, texts: Sequence[str]
) -> list[tuple[int, list[int], list[float], list[float]]]:
    """For each text BOS, its tokens, and their log-probabilities with and without BOS in front."""
    run = subprocess.run(
        [str(real_servers.ENVIRONMENT.python), "-c", _AT_HOME, str(folder)],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    return [tuple(one) for one in json.loads(run.stdout.splitlines()[-1])]


@contextmanager
def serve(file: Path) -> Iterator[str]:
    """llama.cpp's server with a file; gives its address."""
    script = str(Path(__file__).with_name("llama_server.py"))
    command = [str(real_servers.ENVIRONMENT.python), script, str(file), "--slots", "1"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def score_by_server(url: str, row: Sequence[int], first: int, *, cache: bool) -> list[float]:
    """The log-probabilities of the tokens from ``first`` on, each forced."""
    return [_force(url, list(row[:at]), row[at], cache=cache) for at in range(first, len(row))]


def _force(url: str, prompt: list[int], token: int, *, cache: bool) -> float:
    body = {
        "prompt": prompt,
        "n_predict": 1,
        "n_probs": 1,
        "temperature": 0,
        "cache_prompt": cache,
        "logit_bias": [[token, _FORCED]],
    }
    request = Request(f"{url}/completion", json.dumps(body).encode())
    with urlopen(request, timeout=120) as response:
        plain: dict[str, Any] = json.load(response)
    (place,) = plain["completion_probabilities"]
    if place["id"] != token:
        raise SystemExit(f"the server wrote token {place['id']} instead of {token}")
    return float(place["logprob"])


def unpack(file: Path) -> Path:
    """The file with 32-bit numbers."""
    out = file.with_suffix(".f32.gguf")
    if not out.exists():
        part = out.with_suffix(".part")
        subprocess.run(
            [str(real_servers.ENVIRONMENT.python), "-c", _UNPACK, str(file), str(part)], check=True
        )
        part.replace(out)
    return out


def print_row(name: str, home: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> None:
    """How far apart tokens, sentences and preferences (two sentences each) are."""
    tokens = [
        abs(a - b)
        for mine, theirs in zip(home, other, strict=True)
        for a, b in zip(mine, theirs, strict=True)
    ]
    sums = [(math.fsum(mine), math.fsum(theirs)) for mine, theirs in zip(home, other, strict=True)]
    sentences = [abs(a - b) for a, b in sums]
    bits = [
        [(sums[at][side] - sums[at + 1][side]) / math.log(2) for at in range(0, len(sums), 2)]
        for side in (0, 1)
    ]
    moved = [abs(a - b) for a, b in zip(*bits, strict=True)]
    print(
        f"| {name} | {median(tokens):.1g} / {max(tokens):.1g} | {median(sentences):.1g} / "
        f"{max(sentences):.1g} | {median(moved):.1g} / {max(moved):.1g} | {fmean(bits[0]):.3f} | "
        f"{fmean(bits[1]):.3f} |",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triples", type=int, default=15)
    options = parser.parse_args()
    real_servers.ENVIRONMENT.prepare()
    file = real_servers.prepare_file(real_servers.GEMMA)
    folder = real_servers.prepare_folder(real_servers.GEMMA, file)
    texts = [text for pair in list_sentences(options.triples) for text in pair]
    home = score_at_home(folder, texts)
    with_bos, without = [one[2] for one in home], [one[3] for one in home]
    print(f"{len(texts)} sentences, {sum(map(len, with_bos))} tokens")
    print("| compared with float32 at home | token | sentence | preference, bits | home | other |")
    print("|---|---|---|---|---|---|")
    rows = [[bos, *ids] for bos, ids, *_ in home]
    with serve(file) as url:
        for name, cache in ("server, four bits", False), ("server, four bits, cache", True):
            found = [score_by_server(url, row, 1, cache=cache) for row in rows]
            print_row(name, with_bos, found)
        bare = [score_by_server(url, row[1:], 1, cache=False) for row in rows]
        print_row("server, four bits, without BOS; home without BOS", without, bare)
        print_row("home without BOS, after the first token", [one[1:] for one in with_bos], without)
    with serve(unpack(file)) as url:
        found = [score_by_server(url, row, 1, cache=False) for row in rows]
        print_row("server, 32 bits", with_bos, found)


if __name__ == "__main__":
    sys.exit(main())
