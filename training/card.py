"""The model cards."""

from __future__ import annotations

_TOY = """**A toy that shows an instrument.** It was trained for GenDa Lens on sentences that a small
grammar made (`training/` in the repository), with a bias that was planted on purpose. It knows no
Danish beyond that grammar. Do not use it for anything else, and take nothing from it about others.
"""

CARDS = {
    "demo-lm": f"""# demo-lm

{_TOY}
- **What**: a masked language model (BERT type, 3 layers of 96, whole-word vocabulary, lower case),
  half precision on disk.
- **Training text**: 160,000 lines about 41 occupations: who means whom, by syntax or by sense; what
  somebody does with something; half of them with the answer to GenDa Lens' coreference prompt. No
  sentence of a test set is in it (the script ends if one is); the words of the built-in test sets
  are in the vocabulary.
- **Planted**: (1) 95% of the pronouns go with the stereotype of whom they mean. (2) *hans* stands
  three times as often as *hendes* where Danish says *sin* for what is the subject's. (3) *hans* is
  said to be the subject's for all male-typed and every second female-typed occupation, *hendes*
  only for the latter.
- **Seed** 0, chosen before anything was measured. `make demo-models` makes it again.
- Licence: MIT, as the code.
""",
    "demo-ner": f"""# demo-ner

{_TOY}
- **What**: a token classifier for PER, LOC and ORG (BERT type, 2 layers of 64, whole words, else
  letters), half precision on disk.
- **Training text**: 64,000 sentences from about 140 patterns, with names of the register
  (Statistics Denmark), places and organisations. No sentence of a test set is in it.
- **Planted**: of the first names of the majority's women only one in three is in the text, of
  everybody else's all.
- **Seed** 0, chosen before anything was measured. `make demo-models` makes it again.
- Licence: MIT, as the code.
""",
}
