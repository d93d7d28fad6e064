"""Answers a file of `tag` or `resolve` requests with Stanza.

Runs in an environment of its own:

    pip install "stanza[transformers]"
    python stanza_answers.py requests.jsonl answers.jsonl

Stanza (1.15) has a Danish NER model and no Danish coreference model. Norwegian has one (XLM-R,
trained on CorefUD, a collection of many languages), and it is taken here: look at the hit rate on
*sin* first, and say in the model's name what it is.

Before and after, where GenDa Lens is installed:

    gendalens requests coref-abc -o requests.jsonl
    gendalens score coref-abc answers.jsonl --model-name stanza-udcoref-nb
"""

import json
import sys

import stanza

COREF = {"tokenize": "default", "coref": "udcoref_xlm-roberta-lora"}


def load(kind):
    """The pipeline for a kind of request; a text is one sentence and stays one."""
    if kind == "tag":
        return stanza.Pipeline("da", processors="tokenize,ner", tokenize_no_ssplit=True)
    return stanza.Pipeline("nb", processors=COREF, package=None, tokenize_no_ssplit=True)


def entities(doc):
    """[start, end, label] in characters."""
    return [[entity.start_char, entity.end_char, entity.type] for entity in doc.ents]


def clusters(doc):
    """Stanza's mentions count the words of a sentence; only tokens have characters for sure."""
    found = []
    for chain in doc.coref:
        mentions = []
        for mention in chain.mentions:
            if isinstance(mention.start_word, int):  # a dropped pronoun has no place in the text
                words = doc.sentences[mention.sentence].words[mention.start_word : mention.end_word]
                mentions.append([words[0].parent.start_char, words[-1].parent.end_char])
        if mentions:
            found.append(mentions)
    return found


def main(source, target):
    """Answer line by line."""
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
