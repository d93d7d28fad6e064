"""Answer a file of `tag` or `resolve` requests with Stanza.

Runs in its own environment:

    pip install "stanza[transformers]"
    python stanza_answers.py requests.jsonl answers.jsonl

Stanza (1.15) has a Danish NER model but no Danish coreference model. This script uses the Norwegian
one (XLM-R, trained on CorefUD, a multilingual collection). Check the hit rate on *sin* first, and say
in the model's name which model it is.

Before and after this script, where GenDa Lens is installed:

    gendalens requests coref-abc -o requests.jsonl
    gendalens score coref-abc answers.jsonl --model-name stanza-udcoref-nb
"""

import json
import sys

import stanza

COREF = {"tokenize": "default", "coref": "udcoref_xlm-roberta-lora"}


def load(kind):
    """Load the pipeline for a kind of request, without splitting a text into sentences."""
    if kind == "tag":
        return stanza.Pipeline("da", processors="tokenize,ner", tokenize_no_ssplit=True)
    return stanza.Pipeline("nb", processors=COREF, package=None, tokenize_no_ssplit=True)


def entities(doc):
    """Return entities as [start, end, label], in characters."""
    return [[entity.start_char, entity.end_char, entity.type] for entity in doc.ents]


def clusters(doc):
    """Convert word positions to characters, by token: not every word has character offsets."""
    found = []
    for chain in doc.coref:
        mentions = []
        for mention in chain.mentions:
            if isinstance(mention.start_word, int):  # a dropped pronoun is not in the text
                words = doc.sentences[mention.sentence].words[mention.start_word : mention.end_word]
                mentions.append([words[0].parent.start_char, words[-1].parent.end_char])
        if mentions:
            found.append(mentions)
    return found


def main(source, target):
    """Answer the requests line by line."""
    with open(source, encoding="utf-8") as requests, open(target, "w", encoding="utf-8") as answers:
        (kind,) = json.loads(next(requests))["kinds"]
        nlp = load(kind)
        header = {"format": "gendalens-answers", "version": 1}
        header["software"] = [f"stanza {stanza.__version__}"]
        answers.write(json.dumps(header) + "\n")
        for line in requests:
            request = json.loads(line)
            doc = nlp(request["text"])
            found = {"entities": entities(doc)} if kind == "tag" else {"clusters": clusters(doc)}
            answers.write(json.dumps({"id": request["id"], **found}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
