"""The ladder: the best way to answer that a server really offers, or the one that the user fixed."""

from __future__ import annotations

from gendalens.errors import UserError
from gendalens.models.chat.respondent import Rung
from gendalens.models.endpoint.findings import Findings
from gendalens.models.endpoint.server import Server


def list_rungs(found: Findings) -> tuple[Rung, ...]:
    """The rungs that a server offers, best first."""
    offers = {
        Rung.LIKELIHOODS: bool(found.likelihoods),
        Rung.OPTIONS: bool(found.decision_route or found.top_logprobs),
        Rung.CONSTRAINED: bool(found.constraint),
        Rung.TEXT: found.chats,
    }
    return tuple(rung for rung in Rung if offers[rung])


def check_wanted(wanted: str | None) -> None:
    """Refuse a way to answer that there is not; needs no server."""
    known = tuple(rung.value for rung in Rung)
    if wanted is not None and wanted not in known:
        raise UserError(
            "There is no way to answer {wanted}: choose one of {known}.",
            wanted=repr(wanted),
            known=known,
        )


def choose_rung(server: Server, found: Findings) -> Rung:
    """The rung to use; raises if the user's is none or the server does not offer it."""
    wanted = server.options.answer_by
    offered = list_rungs(found)
    check_wanted(wanted)
    if wanted is None:
        return offered[0]
    rung = Rung(wanted)
    if rung not in offered:
        raise UserError(
            "{model} at {server} cannot answer by {wanted} (the probe found that the server does not "
            "do it, whatever it accepts): choose {offered}, or leave out --answer-by.",
            model=server.model,
            server=server.addresses[0].host,
            wanted=wanted,
            offered=tuple(one.value for one in offered),
        )
    return rung
