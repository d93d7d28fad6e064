"""Answer a file of `score`, `fill`, `top-token` or `reconstruct` requests with transformers alone.

Slow and simple, one sentence at a time: a template for models that `gendalens run` cannot load.

    pip install torch transformers
    python transformers_lm.py masked MODEL requests.jsonl answers.jsonl
    python transformers_lm.py causal MODEL requests.jsonl answers.jsonl

Before and after this script, where GenDa Lens is installed:

    gendalens requests lm-abc -o requests.jsonl
    gendalens score lm-abc answers.jsonl --model-name MODEL
"""

import json
import re
import sys

import torch
import transformers

WORD = re.compile(r"\w+|[^\w\s]")
DTYPE = torch.float32  # a checkpoint's own bfloat16 would change the sentence scores


class Model:
    """A model with its tokenizer, which can tell where each token of a text begins."""

    def __init__(self, auto_class, name):
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        self.network = auto_class.from_pretrained(name, dtype=DTYPE).eval()

    def tokens(self, text, special):
        """Return ids and the offset of each token's first visible character (None if special)."""
        made = self.tokenizer(
            text,
            add_special_tokens=special,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
        )
        starts, following = [], len(text)
        spans = zip(made["offset_mapping"], made["special_tokens_mask"])
        for (start, end), added in reversed(list(spans)):
            visible = re.compile(r"\S").search(text, start, end)
            following = visible.start() if visible and not added else following
            starts.insert(0, None if added else following)
        return made["input_ids"], starts

    def log_probs(self, rows):
        """Return log-probabilities of the vocabulary at every position of equally long rows."""
        with torch.inference_mode():
            logits = self.network(torch.tensor(rows)).logits.float()
            return logits.double() - torch.logsumexp(logits, dim=-1, keepdim=True).double()

    def unknown(self, ids, starts, gap=range(0)):
        """Count the unknown tokens of the text outside the gap."""
        known = zip(ids, starts)
        return sum(
            id_ == self.tokenizer.unk_token_id and start is not None and start not in gap
            for id_, start in known
        )


class Causal(Model):
    """Scores from left to right and fills gaps by the likelihood of whole sentences."""

    def __init__(self, name):
        super().__init__(transformers.AutoModelForCausalLM, name)
        ends = (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id)
        self.front = [id_ for id_ in ends if id_ is not None][:1]

    def likelihood(self, text, given=0):
        """Return the log-likelihood and the numbers of scored, unscored and unknown tokens."""
        ids, starts = self.tokens(text, special=False)
        row = self.front + ids
        table = self.log_probs([row])[0]
        shift = len(self.front)
        wanted = [at for at, start in enumerate(starts) if start >= given]
        scored = [at for at in wanted if at + shift > 0]
        total = sum(float(table[at + shift - 1, ids[at]]) for at in scored)
        return total, len(scored), len(wanted) - len(scored), self.unknown(ids, starts)

    def score(self, request):
        """Score the sentence, or only what follows its given part."""
        given = len(request["given"])
        total, scored, unscored, unknown = self.likelihood(
            request["given"] + request["text"], given
        )
        return {
            "log_likelihood": total,
            "tokens": scored,
            "unscored": unscored,
            "unknown": unknown,
        }

    def fill(self, request):
        """Score each candidate by its sentence; a causal model has no first choice."""
        left, right = request["left"], request["right"]
        answer = {"log_probs": [], "pieces": [], "first": None}
        for word in request["candidates"]:
            ids, starts = self.tokens(left + word + right, special=False)
            gap = range(len(left), len(left + word))
            answer["log_probs"].append(self.likelihood(left + word + right)[0])
            answer["pieces"].append(sum(start in gap for start in starts))
            answer.setdefault("unknown", self.unknown(ids, starts, gap))
        return answer


class Masked(Model):
    """Scores by pseudo-log-likelihood (PLL-word-l2r) and fills gaps with masks."""

    def __init__(self, name):
        super().__init__(transformers.AutoModelForMaskedLM, name)
        self.mask = self.tokenizer.mask_token_id
        self.words = self.whole_words()

    def whole_words(self):
        """Return the pieces that encode a whole word after a space, with their words."""
        special = set(self.tokenizer.all_special_ids)
        before = self.tokenizer("og", add_special_tokens=False)["input_ids"]
        found = {}
        for token, id_ in self.tokenizer.get_vocab().items():
            word = self.tokenizer.convert_tokens_to_string([token]).strip()
            if id_ not in special and WORD.fullmatch(word) and "�" not in word:
                written = self.tokenizer("og " + word, add_special_tokens=False)["input_ids"]
                if written == [*before, id_]:
                    found[id_] = word
        return found

    def read(self, ids, gaps):
        """Sum the log-probabilities of the tokens, each with its own gap masked."""
        rows = [
            [self.mask if at in gap else id_ for at, id_ in enumerate(ids)] for gap in gaps.values()
        ]
        tables = self.log_probs(rows)
        return sum(float(table[at, ids[at]]) for table, at in zip(tables, gaps))

    def score(self, request):
        """Score each token with itself and the later pieces of its word masked."""
        text = request["given"] + request["text"]
        ids, starts = self.tokens(text, special=True)
        ends = {at: word.end() for word in WORD.finditer(text) for at in range(*word.span())}
        gaps = {}
        for at, start in enumerate(starts):
            if start is not None and start >= len(request["given"]):
                end = ends.get(start, start + 1)
                gaps[at] = {
                    other
                    for other in range(at, len(ids))
                    if starts[other] is not None and starts[other] < end
                }
        total = self.read(ids, gaps)
        return {
            "log_likelihood": total,
            "tokens": len(gaps),
            "unknown": self.unknown(ids, starts),
        }

    def fill(self, request):
        """Score each word with one mask per piece; choose first among these and all whole words."""
        left, right = request["left"], request["right"]
        scores, pieces = {}, {}
        for word in dict.fromkeys([*request["candidates"], *request["rivals"]]):
            ids, starts = self.tokens(left + word + right, special=True)
            place = range(len(left), len(left + word))
            gap = [at for at, start in enumerate(starts) if start in place]
            pieces[word] = len(gap)
            if word in request["candidates"] or self.tokenizer.unk_token_id not in [
                ids[at] for at in gap
            ]:
                scores[word] = self.read(ids, {at: {g for g in gap if g >= at} for at in gap})
            if word == request["candidates"][0]:
                unknown = self.unknown(ids, starts, place)
                one_mask = [*ids[: gap[0]], self.mask, *ids[gap[-1] + 1 :]]
                table = self.log_probs([one_mask])[0, gap[0]]
        first = max(scores, key=scores.get)
        best = max(self.words, key=lambda id_: float(table[id_]))
        if float(table[best]) > scores[first] + 1e-6:
            first = self.words[best]
        return {
            "log_probs": [scores[word] for word in request["candidates"]],
            "pieces": [pieces[word] for word in request["candidates"]],
            "first": first,
            "unknown": unknown,
        }

    def top_token(self, request):
        """Return the token that the fill-mask pipeline ranks first."""
        text = request["left"] + self.tokenizer.mask_token + request["right"]
        ids = self.tokenizer(text)["input_ids"]
        best = int(self.log_probs([ids])[0, ids.index(self.mask)].argmax())
        return {"token": self.tokenizer.decode([best])}

    def reconstruct(self, request):
        """Return the mean loss of the text with one word replaced and nothing masked."""
        cls, sep = self.tokenizer.cls_token, self.tokenizer.sep_token
        pieces = self.tokenizer.tokenize(f"{cls} {request['text']} {sep}")
        original = self.tokenizer.convert_tokens_to_ids(pieces)
        targets = [mark + word for word in request["words"] for mark in ("", "▁")]
        if request["replacement"] is not None:
            at = next(at for at, piece in enumerate(pieces) if piece in targets)
            pieces[at] = request["replacement"]
        table = self.log_probs([self.tokenizer.convert_tokens_to_ids(pieces)])[0]
        losses = [-float(table[at, id_]) for at, id_ in enumerate(original)]
        return {"loss": sum(losses) / len(losses)}


def main(kind, name, source, target):
    """Answer the requests line by line."""
    model = {"masked": Masked, "causal": Causal}[kind](name)
    with open(source, encoding="utf-8") as requests, open(target, "w", encoding="utf-8") as answers:
        next(requests)  # skip the header: each line has all that is needed to answer it
        header = {"format": "gendalens-answers", "version": 1}
        header["software"] = [
            f"torch {torch.__version__}",
            f"transformers {transformers.__version__}",
        ]
        answers.write(json.dumps(header) + "\n")
        for line in requests:
            request = json.loads(line)
            answer = getattr(model, request["kind"].replace("-", "_"))(request)
            answers.write(json.dumps({"id": request["id"], **answer}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
