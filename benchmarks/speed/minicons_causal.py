"""minicons' log-likelihoods of whole sentences by a causal model, in its own environment."""

import json
import sys
import time
from pathlib import Path

from memory import peak_mb


def main(model, part, threads, batch):
    import torch
    from minicons import scorer

    torch.set_num_threads(threads)
    texts = json.loads(Path(part).read_text(encoding="utf-8"))
    lm = scorer.IncrementalLMScorer(model, "cpu", dtype=torch.float32)
    # Mapped weights take memory only once they are read.
    for parameter in lm.model.parameters():
        parameter.sum()
    # Some versions of the tokenizer put BOS in front by themselves; it must stand there once.
    tokenizer = lm.tokenizer
    lacks_bos = tokenizer("Hej")["input_ids"][0] != tokenizer.bos_token_id
    loaded = peak_mb()
    began = time.perf_counter()
    scores = []
    for start in range(0, len(texts), batch):
        scores += lm.sequence_score(
            texts[start : start + batch],
            reduction=lambda x: x.sum(0).item(),
            bos_token=lacks_bos,
        )
    seconds = time.perf_counter() - began
    found = {"seconds": seconds, "items": len(texts), "total": sum(scores)}
    print(json.dumps({**found, "peak_mb": peak_mb(), "above_mb": peak_mb() - loaded}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
