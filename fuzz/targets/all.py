"""Every target by its name, in the order of the table."""

from __future__ import annotations

from fuzz.target import Target
from fuzz.targets.answers import Answers
from fuzz.targets.cache import Stored
from fuzz.targets.conllu import Conllu
from fuzz.targets.folders import Folders
from fuzz.targets.gguf import Gguf, GgufHeads
from fuzz.targets.names import Names
from fuzz.targets.options import Options
from fuzz.targets.results import Results
from fuzz.targets.sentences import Sentences
from fuzz.targets.tables import Tables

TARGETS: dict[str, type[Target]] = {
    target.name: target
    for target in (
        *(Conllu, Tables, Names, Sentences, Answers),
        *(Options, Results, Stored, Folders, GgufHeads, Gguf),
    )
}
