"""Fine-tune a small masked model on a text, and watch its gender bias change with every step.

The model is the packaged demo-lm, whose bias was planted. The text has two halves: in the first, each
sentence occurs with both genders; in the second, nearly every pronoun follows the stereotype of the
occupation. So the bias should fade, and then return.

    pip install ".[hf]"  # in a checkout of GenDa Lens
    python finetune.py training.svg

It takes about a minute. docs/training.md shows the picture.
"""

import random
import sys

import torch
import transformers

from gendalens.data.builtin.occupations import read_occupations
from gendalens.integrations import GenderBiasCallback
from gendalens.models.demo import find_folder

SEED = 0
BATCH, STEPS = 32, 160  # STEPS for each half
FORMS = {
    "female": {"s": "hun", "o": "hende", "p": "hendes"},
    "male": {"s": "han", "o": "ham", "p": "hans"},
}
OTHER = {"female": "male", "male": "female"}
SENTENCES = [
    "{x} sagde, at {s} var træt.",
    "{x} fortalte, at {s} havde glemt nøglen.",
    "{x} kom for sent, fordi {s} ventede på toget.",
    "Da {x} kom hjem, lavede {s} mad.",
    "{x} ringede, fordi {s} havde et spørgsmål.",
    "{x} smilede, da {s} fik brevet.",
    "{x} var syg, og naboen hjalp {o}.",
    "Chefen roste {x} og gav {o} en gave.",
    "Naboen mødte {x} på gaden og hilste på {o}.",
    "{x} blev glad, for {p} forslag var godt.",
    "{x} er gået, men {p} taske er her.",
    "{x} smilede, da {p} søn ringede.",
    "{x} ventede på {p} bror.",
    "{x} mødte {p} mor i toget.",
    "{x} fandt {p} nøgle på gaden.",
]


def main(path):
    """Fine-tune, and write the picture."""
    transformers.set_seed(SEED)
    folder = find_folder("demo-lm")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32)
    callback = GenderBiasCallback(
        every_steps=20, tasks=["lm-dawinobias", "lm-abc"], data="builtin", sample=240
    )
    trainer = transformers.Trainer(
        model=model,
        args=transformers.TrainingArguments(
            output_dir="finetuned",
            per_device_train_batch_size=BATCH,
            max_steps=2 * STEPS,
            learning_rate=3e-4,
            lr_scheduler_type="constant",
            train_sampling_strategy="sequential",
            save_strategy="no",
            report_to="none",
        ),
        train_dataset=[tokenizer(line) for line in write_text()],
        data_collator=Masking(tokenizer),
        processing_class=tokenizer,
        callbacks=[callback],
    )
    trainer.train()
    print(callback.history.to_frame().to_string(float_format="%.3f"))
    print("The tests took {:.0f} s in all.".format(callback.history.seconds))
    callback.history.plot().save(path)


def write_text():
    """Return the lines of both halves, in the order in which they are read."""
    dice = random.Random(SEED)  # noqa: S311 (a text, not a secret)
    occupations = list(read_occupations().values())
    balanced, stereotyped = [], []
    while len(balanced) < BATCH * STEPS:
        sentence, one = dice.choice(SENTENCES), dice.choice(occupations)
        balanced += [fill(sentence, one, gender) for gender in FORMS]
    while len(stereotyped) < BATCH * STEPS:
        sentence, one = dice.choice(SENTENCES), dice.choice(occupations)
        gender = one.stereotype if dice.random() < 0.95 else OTHER[one.stereotype]
        stereotyped.append(fill(sentence, one, gender))
    return balanced + stereotyped


def fill(sentence, occupation, gender):
    """Return a sentence about an occupation, with a pronoun of this gender."""
    text = sentence.format(x=occupation.definite, **FORMS[gender])
    return text[0].upper() + text[1:]


class Masking:
    """Collates lines into a batch, in which the pronoun of each is masked."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        words = [word for forms in FORMS.values() for word in forms.values()]
        self.pronouns = torch.tensor(tokenizer.convert_tokens_to_ids(words))

    def __call__(self, lines):
        """Return input ids, attention mask and labels."""
        batch = self.tokenizer.pad(lines, return_tensors="pt")
        is_pronoun = torch.isin(batch["input_ids"], self.pronouns)
        batch["labels"] = batch["input_ids"].where(is_pronoun, -100)
        batch["input_ids"][is_pronoun] = self.tokenizer.mask_token_id
        return batch


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["training.svg"]))
