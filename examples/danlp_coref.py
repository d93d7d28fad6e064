"""Answer a file of `resolve` requests with danlp's coreference model (XLM-R, on allennlp).

Runs in its own environment, with Python 3.8 and the versions that danlp itself requires
(allennlp up to 2.5, transformers up to 4.3, torch up to 1.7; see danlp's issue 163 for newer ones):

    pip install "danlp[all]==0.1.2"
    python danlp_coref.py requests.jsonl answers.jsonl

Before and after this script, where GenDa Lens is installed:

    gendalens requests coref-abc -o requests.jsonl
    gendalens score coref-abc answers.jsonl --model-name danlp-xlmr-coref
"""

import json
import sys
from importlib.metadata import version

from danlp.models import load_xlmr_coref_model


def clusters(model, request):
    """Convert danlp's word positions to the character offsets of requests and answers."""
    tokens = request["tokens"]
    words = [request["text"][start:end] for start, end in tokens]
    return [
        [[tokens[first][0], tokens[end - 1][1]] for _, first, end in cluster]
        for cluster in model.predict_clusters([words])
    ]


def main(source, target):
    """Answer the requests line by line."""
    model = load_xlmr_coref_model()
    with open(source, encoding="utf-8") as requests, open(target, "w", encoding="utf-8") as answers:
        next(requests)  # skip the header: each line has all that is needed to answer it
        header = {"format": "gendalens-answers", "version": 1}
        header["software"] = ["danlp " + version("danlp")]
        answers.write(json.dumps(header) + "\n")
        for line in requests:
            request = json.loads(line)
            answer = {"id": request["id"], "clusters": clusters(model, request)}
            answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
