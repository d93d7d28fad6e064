"""A model on the hub: the commit that is tested, and its files as they are fetched."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.huggingface import refusals
from gendalens.models.huggingface.libraries import import_transformers
from gendalens.models.huggingface.model_files import ADAPTER_CONFIG, SETTINGS
from gendalens.models.huggingface.refusals import CONFIGURATION
from gendalens.models.huggingface.shards import SAFE
from gendalens.models.library_errors import walk_causes
from gendalens.system.hub_faults import UnbelievableError, describe_fault
from gendalens.system.hub_repository import Repository, ask_repository, check_commit


class Commit(NamedTuple):
    """A version of a model on the hub: its files, and the repository unless only the cache was asked."""

    sha: str
    files: frozenset[str]
    repository: Repository | None


@dataclass(frozen=True)
class HubModel:
    """A model by its name on the hub."""

    name: str
    options: LoadOptions

    @cached_property
    def commit(self) -> Commit:
        """The commit.

        Resolved once, before anything else: everything is then loaded from that commit, even if the hub
        gets a newer one.
        """
        import_transformers()
        from huggingface_hub import errors

        final = (
            errors.HFValidationError,
            errors.RepositoryNotFoundError,
            errors.RevisionNotFoundError,
        )
        if self.options.offline:
            return self._find_cached(None)
        try:
            found = ask_repository(self.name, "model", self.options.revision, timeout=15)
        except final as error:
            raise self._explain(error) from error
        except UnbelievableError:
            raise
        except Exception as error:  # without network or during an outage, the cache may have it
            return self._find_cached(error)
        return Commit(found.commit, frozenset(found.files), found)

    def _find_cached(self, fault: BaseException | None) -> Commit:
        """The commit in the cache; ``fault`` is why the hub was of no help, if it was asked."""
        import huggingface_hub
        from huggingface_hub.errors import HFValidationError

        try:
            cached = [
                huggingface_hub.try_to_load_from_cache(
                    self.name, name, revision=self.options.revision
                )
                for name in ("config.json", ADAPTER_CONFIG)
            ]
        except HFValidationError as error:
            raise self._explain(error) from error
        for file in cached:
            if isinstance(file, str):
                folder = Path(file).parent
                files = frozenset(found.name for found in folder.iterdir())
                return Commit(check_commit(folder.name, self.name), files, None)
        if fault is None:
            raise UserError(
                "{name} is neither a local folder nor in the cache: download it first, or leave"
                " offline mode.",
                name=self.name,
            )
        raise UserError(
            "{name} is neither a local folder nor in the cache: {fault}, or name a local folder.",
            name=self.name,
            fault=describe_fault(fault),
        ) from fault

    @property
    def version(self) -> str:
        """The commit, and whether pickled weights are read: a commit may have both, and they may differ.

        The hub's cache may hold only the pickled ones of the two.
        """
        sha, files = self.commit.sha, self.commit.files
        pickled = self.options.allow_pickle and files.isdisjoint((*SAFE, ADAPTER_CONFIG))
        return f"{sha}+pickled" if pickled else sha

    def fetch_settings(self) -> None:
        """Fetch all files but the weights; the configuration last, since it marks a model as cached."""
        wanted = {
            name
            for name in self.commit.files
            if "/" not in name and PurePosixPath(name).suffix in SETTINGS
        }
        for name in sorted(wanted, key=lambda name: (name == "config.json", name)):
            self.fetch(name)

    def fetch(self, name: str) -> None:
        """Fetch a file, unless only the cache is asked."""
        if self.commit.repository is None:
            return
        try:
            self.commit.repository.fetch(name)
        except UserError:
            raise
        except Exception as error:  # of two HTTP libraries
            raise self._explain_fetching(error) from error

    def _explain_fetching(self, error: BaseException) -> UserError:
        kinds = {type(link).__name__ for link in walk_causes(error)}
        if kinds & {"GatedRepoError", "RepositoryNotFoundError", "RevisionNotFoundError"}:
            return self._explain(error)
        return UserError(
            "{name} cannot be fetched from the hub: {fault}.",
            name=self.name,
            fault=describe_fault(error),
        )

    def _explain(self, error: BaseException) -> UserError:
        return refusals.explain_error(
            error, CONFIGURATION, self.name, revision=self.options.revision, gguf=False
        )
