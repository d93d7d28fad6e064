"""GenDa Lens 0.0.3 on a part of the data, in its own environment: seconds and peak memory.

Its own functions are timed, without loading the model. It needs a spaCy pipeline only for tokenising,
so an empty Danish one with the same rules replaces the one that it would download.
"""

import json
import sys
import time
from pathlib import Path

from memory import peak_mb


def main(task, model, part, threads):
    import torch

    torch.set_num_threads(threads)
    items = json.loads(Path(part).read_text(encoding="utf-8"))
    run = {"lm-dawinobias": dawinobias, "lm-abc": abc, "ner-dane": ner}[task](model, items)
    began = time.perf_counter()
    run()
    seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "items": len(items), "peak_mb": peak_mb()}))


def dawinobias(model, lines):
    import spacy
    from genda_lens.lm_tasks.wino_utils import predict_masked
    from transformers import pipeline

    nlp = pipeline(task="fill-mask", model=model)
    return lambda: predict_masked(lines, "pro", nlp, spacy.blank("da"), "[MASK]", model)


def abc(model, sentences):
    from genda_lens.lm_tasks.abc_utils import load_mdl, run_abc

    loaded, tokenizer = load_mdl(model)
    return lambda: run_abc(sentences, "female", tokenizer, loaded, "[CLS]", "[SEP]")


def ner(model, sentences):
    import tempfile

    import spacy
    from dacy.score import score
    from genda_lens.ner_tasks.augmentation import f_aug
    from genda_lens.ner_tasks.performance import load_mdl
    from spacy.tokens import Doc, DocBin
    from spacy.training import Corpus

    vocabulary = spacy.blank("da").vocab
    docs = DocBin()
    for sentence in sentences:
        docs.add(Doc(vocabulary, sentence["words"], sentence["spaces"], ents=sentence["marks"]))
    path = tempfile.mkdtemp() + "/part.spacy"
    docs.to_disk(path)
    nlp = load_mdl(model)
    return lambda: score(corpus=Corpus(path), apply_fn=nlp, augmenters=f_aug, k=1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
