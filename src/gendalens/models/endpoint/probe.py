"""What a server really does, found out by requests of known answer; ignored fields are not believed."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gendalens.errors import UserError
from gendalens.models.chat.respondent import Question, Turn
from gendalens.models.chat.thoughts import split_thoughts
from gendalens.models.endpoint import decisions
from gendalens.models.endpoint.constraints import CONSTRAINTS, read_constrained, write_format
from gendalens.models.endpoint.dialect import (
    DIALECTS,
    Dialect,
    count_thoughts,
    read_choice_of,
    read_text,
)
from gendalens.models.endpoint.findings import Findings, find_stored, read_stored, store
from gendalens.models.endpoint.option_tokens import Place, read_places
from gendalens.models.endpoint.prompt_likelihoods import (
    WAYS,
    ScoredText,
    read_response,
    write_request,
)
from gendalens.models.endpoint.secrets import Address
from gendalens.models.endpoint.server import CHAT, COMPLETIONS, FEWEST_TOKENS, Server

_HELLO = (Turn("user", "Svar kun med ordet ja."),)
_OTHER = (Turn("user", "Skriv kun tallet 7 og ikke andet."),)
# No model would say these of its own accord.
_ABSURD = ("zebrafink-4417", "xylofon-9031")
_CAT = (Turn("user", "Skriv en kort sætning om en kat."),)
_TOPS = (20, 10, 5)
# How far apart the probabilities of the same option in the same question may be.
_SAME = 0.01
# A text that becomes predictable, and one that never does; with Danish letters, which some tokens split.
_REPEATED = "Katten på øen æder. " * 12
_SHUFFLED = (
    "mq zeop vyt krux åblo wif tez gnuy høpd skra vem jul dixo præ fneb oty wrk ubba zil qam"
)
# Answers at temperature 1, of which at least one must differ.
_SAMPLES = 4
# How much likelier, in nats a token, the second half of the repeated text must be than the shuffled text.
_GAIN = 1.0
# A log-probability that no token has whose logits are numbers of a model.
_IMPOSSIBLE = -80.0


def probe(server: Server) -> Findings:
    """What the servers do; where the same server and model were probed before, it is only confirmed."""
    found = [_probe_one(server, address) for address in server.addresses]
    # The same weights on another machine may put a sentence into other words.
    if len({replace(one, sample="", system_fingerprint="") for one in found}) > 1:
        raise UserError(
            "The endpoints do not serve the same model {model}: give only those that do.",
            model=server.model,
        )
    return found[0]


def _probe_one(server: Server, address: Address) -> Findings:
    path = find_stored(server, address)
    server.probe_at(address)
    known = read_stored(path) if path is not None else None
    if known is not None and _Probe(server, address).confirm(known):
        return known
    found = _Probe(server, address).run()
    if path is not None:
        store(path, found)
    return found


class _Probe:
    """The questions of known answer, one property after the other."""

    def __init__(self, server: Server, address: Address) -> None:
        self.server = server
        self.host = address.host
        self.dialect = Dialect()
        self.hello: dict[str, Any] | None = None
        self.served = ""
        self._named: dict[str, str] = {}

    def run(self) -> Findings:
        """Ask all of them."""
        self._find_dialect()
        route = self._find_decision_route()
        way, adds_bos = self._find_likelihoods()
        chats = self.hello is not None
        if not (chats or route or way):
            # What a server says to the shortest request is what is really wrong.
            shortest = Dialect(self.dialect.limit, temperature=False, seed=False)
            raise self.server.describe_failure(CHAT, shortest.write(_HELLO, max_tokens=64))
        varies = self._varies() if chats else False
        sample = self._digest_sample() if chats else ""
        template, build = self._read_properties()
        return Findings(
            served=self.served,
            system_fingerprint=str((self.hello or {}).get("system_fingerprint") or ""),
            chats=chats,
            limit_field=self.dialect.limit,
            accepts_temperature=self.dialect.temperature,
            accepts_seed=self.dialect.seed,
            streams=self.dialect.streams,
            counts=self.dialect.counts,
            thinks=self.dialect.thinks,
            unfiltered=self.dialect.unfiltered,
            accepts_top_p=self.dialect.top_p,
            likelihoods=way,
            adds_bos=adds_bos,
            decision_route=route,
            top_logprobs=self._count_top_logprobs() if chats else 0,
            constraint=self._find_constraint() if chats else "",
            json_schema=self._honours_schema() if chats else False,
            deterministic=bool(sample) or not chats,
            sample=sample,
            varies=varies,
            template=template,
            build=build,
        )

    def confirm(self, known: Findings) -> bool:
        """Whether the server still does the best of what it once did, with the same model."""
        self.dialect = known.dialect
        return self._does_best(known) and all(
            # Only the chat route names the model as the findings do; others may leave out its revision.
            served == known.served
            or (route != CHAT and known.chats and served == known.served.partition("@")[0])
            for route, served in self._named.items()
        )

    def _does_best(self, known: Findings) -> bool:
        if known.likelihoods:
            return self._find_likelihoods()[0] == known.likelihoods
        if known.decision_route:
            return self._find_decision_route() == known.decision_route
        if known.top_logprobs:
            return self._count_top_logprobs() == known.top_logprobs
        return not known.constraint or self._find_constraint() == known.constraint

    def _attempt(self, route: str, body: dict[str, Any]) -> dict[str, Any] | None:
        """The response to a request; the model that it names is remembered."""
        # Of a server that chats, failures say what it does not offer; any other may not be up yet.
        is_doubtful = self.hello is not None and route != CHAT
        plain = self.server.attempt(route, body, is_doubtful=is_doubtful)
        if plain is not None and isinstance(plain.get("model"), str):
            self.served = self._named[route] = plain["model"]
        return plain

    def _chat(
        self,
        turns: Sequence[Turn],
        *,
        max_tokens: int = FEWEST_TOKENS,
        sample: int = 0,
        **fields: Any,
    ) -> dict[str, Any] | None:
        body = self.dialect.write(turns, max_tokens=max_tokens, sample=sample, **fields)
        return self._attempt(CHAT, body)

    def _find_dialect(self) -> None:
        """Which fields a chat request may have, if the server chats."""
        for dialect in DIALECTS:
            self.dialect = dialect
            plain = self._chat(_HELLO, max_tokens=64)
            if plain is None or not read_choice_of(plain):
                continue
            # A thought may use up all tokens, and some servers do not even show it.
            is_cut_off = read_choice_of(plain).get("finish_reason") == "length"
            if count_thoughts(plain) or (is_cut_off and not read_text(plain)):
                self.dialect = replace(dialect, thinks=True)
                plain = self._chat(_HELLO, max_tokens=64) or plain
            if not read_text(plain).strip():
                raise UserError(
                    "{model} at {server} gives an empty answer to a plain question: check its chat "
                    "template and the server's log.",
                    model=self.server.model,
                    server=self.host,
                )
            self.hello = plain
            return

    def _find_decision_route(self) -> str:
        """The route whose probabilities depend on the question, and on nothing else.

        A small model may not follow what the question says, so that is not asked for.
        """
        for route in decisions.ROUTES:
            questions = [
                Question(
                    (Turn("user", f"Farven er {colour}. Hvilken farve er det?"),), ("grøn", "lilla")
                )
                for colour in ("grøn", "lilla", "grøn")
            ]
            (body,) = decisions.write_requests(route, questions)
            plain = self._attempt(route, body)
            if plain is None:
                continue
            replies = decisions.read_replies(route, questions, [plain])
            if not all(reply.log_probs for reply in replies):
                continue
            first, other, again = (math.exp(reply.log_probs[0]) for reply in replies)
            if abs(again - first) < _SAME and abs(other - first) > abs(again - first):
                return route
        return ""

    def _find_likelihoods(self) -> tuple[str, bool]:
        """How to ask for the likelihood of a prompt, and whether the server puts BOS in front."""
        for way in WAYS:
            scored = []
            for text in (_REPEATED, _SHUFFLED):
                plain = self._attempt(COMPLETIONS, write_request(way, text))
                scored.append(read_response(way, text, plain) if plain is not None else None)
            if scored[0] and scored[1] and _are_plausible(scored[0], scored[1]):
                return way, scored[0].begins_with_special
        return "", False

    def _count_top_logprobs(self) -> int:
        """How many log-probabilities a token of a chat answer comes with; 0 if they are not credible."""
        for wanted in _TOPS:
            fields = {"logprobs": True, "top_logprobs": wanted}
            read = [read_places(self._chat(turns, **fields) or {}) for turns in (_HELLO, _OTHER)]
            counts = [_count_credible(places, self.dialect) for places in read]
            # Made-up numbers would be the same whatever was asked.
            if min(counts) >= 2 and read[0][0].others != read[1][0].others:
                return min(counts)
        return 0

    def _find_constraint(self) -> str:
        """The field that forces an answer which the model would never give."""
        for name, write in CONSTRAINTS.items():
            plain = self._chat(_HELLO, max_tokens=48, **write(_ABSURD))
            if plain is not None:
                answer = split_thoughts(read_text(plain)).answer
                if read_constrained(name, answer) in _ABSURD:
                    return name
        return ""

    def _honours_schema(self) -> bool:
        """Whether an answer takes the form of a JSON schema that nothing else asks for."""
        schema = {
            "type": "object",
            "properties": {_ABSURD[0]: {"type": "integer"}},
            "required": [_ABSURD[0]],
            "additionalProperties": False,
        }
        plain = self._chat(_HELLO, max_tokens=64, **write_format(schema))
        try:
            answer = json.loads(split_thoughts(read_text(plain or {})).answer)
        except (ValueError, RecursionError):
            return False
        return isinstance(answer, dict) and isinstance(answer.get(_ABSURD[0]), int)

    def _digest_sample(self) -> str:
        """A digest of a sentence at temperature 0; empty unless it is the same twice."""
        first, second = (read_text(self._chat(_CAT, max_tokens=24) or {}) for _ in range(2))
        return hashlib.sha256(first.encode()).hexdigest()[:12] if first == second else ""

    def _varies(self) -> bool:
        """Whether answers differ at temperature 1, so that samples say more than the first of them."""
        if self.dialect.temperature:
            self._find_filters()
        found = {
            read_text(self._chat(_CAT, max_tokens=24, sample=sample + 1) or {})
            for sample in range(_SAMPLES)
        }
        return len(found) > 1

    def _find_filters(self) -> None:
        """Which fields keep the server from leaving out unlikely tokens."""
        usual = self.dialect
        for self.dialect in replace(usual, unfiltered=True), usual, replace(usual, top_p=False):
            if self._chat(_CAT, sample=1) is not None:
                return
        self.dialect = usual

    def _read_properties(self) -> tuple[str, str]:
        """A digest of the chat template and the build, if the server tells them (llama.cpp does)."""
        plain = self.server.look("/props")
        if not isinstance(plain, dict):
            return "", ""
        template = plain.get("chat_template")
        digest = ""
        if isinstance(template, str) and template:
            digest = hashlib.sha256(template.encode()).hexdigest()[:12]
        return digest, str(plain.get("build_info") or "")[:40]


def _count_credible(places: Sequence[Place], dialect: Dialect) -> int:
    """How many log-probabilities the first token has; 0 if they cannot be the model's probabilities."""
    if not places:
        return 0
    others = places[0].others
    values = sorted((value for _, value in others), reverse=True)
    if len(values) < 2 or len({token for token, _ in others}) < 2:
        return 0
    if math.fsum(map(math.exp, values)) > 1.01 or len(set(values)) < 2:
        return 0
    # At temperature 0, some servers report that all but one token are impossible.
    if values[1] < _IMPOSSIBLE:
        return 0
    own = dict(others).get(places[0].token)
    # At temperature 0 the token that was written is the likeliest, give or take a tie.
    if dialect.temperature and (own is None or own < values[0] - 0.1):
        return 0
    return len(values)


def _are_plausible(repeated: ScoredText, shuffled: ScoredText) -> bool:
    """Whether the log-probabilities of two prompts are such as a language model gives."""
    for scored, text in (repeated, _REPEATED), (shuffled, _SHUFFLED):
        values = scored.log_probs
        if not len(text) / 12 <= len(values) <= len(text.encode()):
            return False
        if any(value is None for value in values[1:]) or any(
            (value or 0) > 1e-6 for value in values
        ):
            return False
        if len({value for value in values if value is not None}) < 3:
            return False
    late = [value or 0.0 for value in repeated.log_probs[len(repeated.log_probs) // 2 :]]
    odd = [value or 0.0 for value in shuffled.log_probs[1:]]
    return math.fsum(late) / len(late) > math.fsum(odd) / len(odd) + _GAIN
