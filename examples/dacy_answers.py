"""Answer a file of `tag` or `resolve` requests with DaCy or any other spaCy pipeline.

Runs in its own environment. For entities (`ner-dane`), use any Python version that DaCy supports:

    pip install dacy
    python dacy_answers.py da_dacy_medium_trf-1.0.0 requests.jsonl answers.jsonl

Coreference (`coref-abc`, `coref-dawinobias`) needs DaCy's 0.2.0 models and Python 3.10 or 3.11:

    pip install "dacy[coref]"
    python dacy_answers.py da_dacy_medium_trf-0.2.0 requests.jsonl answers.jsonl

Before and after this script, where GenDa Lens is installed:

    gendalens requests ner-dane -o requests.jsonl
    gendalens score ner-dane answers.jsonl --model-name da_dacy_medium_trf-1.0.0
"""

import json
import sys

import spacy


def load(name):
    """Load a DaCy model by name, or a spaCy pipeline by package or folder."""
    if name.startswith("da_dacy"):
        import dacy

        return dacy.load(name)
    return spacy.load(name)


def entities(doc):
    """Return entities as [start, end, label], in characters."""
    return [[entity.start_char, entity.end_char, entity.label_] for entity in doc.ents]


def clusters(doc):
    """Return the clusters, which DaCy stores as span groups."""
    return [
        [[span.start_char, span.end_char] for span in spans]
        for key, spans in doc.spans.items()
        if key.startswith("coref_clusters") and len(spans)
    ]


def labels(nlp):
    """Return all entity types that the pipeline knows, whether found or not."""
    makers = [name for name in nlp.pipe_names if "doc.ents" in nlp.get_pipe_meta(name).assigns]
    return sorted({label for name in makers for label in nlp.pipe_labels.get(name, ())})


def main(name, source, target):
    """Answer the requests line by line, in spaCy's batches."""
    nlp = load(name)
    with open(source, encoding="utf-8") as requests, open(target, "w", encoding="utf-8") as answers:
        kinds = json.loads(next(requests))["kinds"]
        header = {"format": "gendalens-answers", "version": 1}
        header["software"] = [f"spacy {spacy.__version__}"]
        if kinds == ["tag"]:
            header["labels"] = labels(nlp)
        answers.write(json.dumps(header, ensure_ascii=False) + "\n")
        lines = map(json.loads, requests)
        pairs = ((request["text"], request["id"]) for request in lines)
        for doc, name in nlp.pipe(pairs, as_tuples=True):
            found = {"entities": entities(doc)} if kinds == ["tag"] else {"clusters": clusters(doc)}
            answers.write(json.dumps({"id": name, **found}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
