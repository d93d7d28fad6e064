"""lm-evaluation-harness' log-likelihoods of whole sentences, in its own environment."""

import json
import sys
import time
from pathlib import Path

from memory import peak_mb


def main(model, part, threads, batch):
    import torch
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    torch.set_num_threads(threads)
    texts = json.loads(Path(part).read_text(encoding="utf-8"))
    lm = HFLM(pretrained=model, device="cpu", dtype="float32", batch_size=batch)
    # Mapped weights take memory only once they are read.
    for parameter in lm.model.parameters():
        parameter.sum()
    loaded = peak_mb()
    # Nothing before the sentence but BOS, as the harness has it for an empty context.
    requests = [Instance("loglikelihood", {}, ("", text), i) for i, text in enumerate(texts)]
    began = time.perf_counter()
    scores = lm.loglikelihood(requests, disable_tqdm=True)
    seconds = time.perf_counter() - began
    found = {"seconds": seconds, "items": len(texts), "total": sum(score for score, _ in scores)}
    print(json.dumps({**found, "peak_mb": peak_mb(), "above_mb": peak_mb() - loaded}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
