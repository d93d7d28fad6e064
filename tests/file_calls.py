"""What a module does with files, processes and the network, by whatever name it gets hold of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

#: Modules that exist for such things; importing one is a finding.
MODULES = frozenset(
    """tempfile shutil multiprocessing pickle marshal shelve dbm mmap socket socketserver
    http ftplib smtplib requests httpx httpx2 aiohttp urllib3 ctypes pty runpy zipfile tarfile
    huggingface_hub webbrowser fileinput linecache cffi joblib dill cloudpickle code codeop""".split()  # noqa: SIM905
)
#: Functions of other modules.
FUNCTIONS = frozenset(
    """os.open os.fdopen os.replace os.rename os.renames os.unlink os.remove os.rmdir os.removedirs
    os.mkdir os.makedirs os.link os.symlink os.system os.popen os.fork os.forkpty os.truncate
    os.ftruncate os.chmod os.chown os.mkfifo os.mknod os.write os.startfile os.utime os.sendfile
    os.copy_file_range io.open io.FileIO io.open_code codecs.open builtins.open builtins.exec
    builtins.eval builtins.compile open exec eval compile __import__ importlib.import_module
    importlib.util.spec_from_file_location
    urllib.request.urlopen urllib.request.urlretrieve asyncio.create_subprocess_exec
    asyncio.create_subprocess_shell numpy.save numpy.savez numpy.savez_compressed numpy.savetxt numpy.load
    numpy.loadtxt numpy.genfromtxt numpy.fromfile numpy.memmap torch.save torch.load torch.hub.load
    concurrent.futures.ProcessPoolExecutor logging.FileHandler""".split()  # noqa: SIM905
)
FAMILIES = (
    *("os.exec", "os.spawn", "os.posix_spawn", "sqlite3.connect", "sqlite3.dbapi2"),
    *("subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_"),
    *("subprocess.get", "subprocess._"),
)
#: Methods, of whatever object.
METHODS = frozenset(
    """open write_text write_bytes read_text read_bytes touch symlink_to hardlink_to unlink rmdir mkdir
    chmod lchmod rename extract extractall to_csv to_parquet to_pickle to_excel to_feather to_hdf
    to_sql tofile savefig save_pretrained push_to_hub read_csv read_parquet read_pickle read_table
    read_excel subprocess_exec subprocess_shell urlopen urlretrieve""".split()  # noqa: SIM905
)
_HOLDERS = frozenset({"os", "io", "builtins", "importlib", "subprocess", "sqlite3"})


def list_file_calls(tree: ast.AST) -> set[str]:
    """How a module opens, writes, moves or deletes files, starts processes, or asks others."""
    known = _read_imports(tree)
    return {finding for node in ast.walk(tree) for finding in _inspect(node, known)}


def _read_imports(tree: ast.AST) -> dict[str, str]:
    """What each imported name stands for."""
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                known[one.asname or one.name.partition(".")[0]] = (
                    one.name if one.asname else one.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for one in node.names:
                known[one.asname or one.name] = f"{node.module}.{one.name}"
    return known


def _inspect(node: ast.AST, known: dict[str, str]) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (one.name for one in names if _is_module(one.name))
        case ast.ImportFrom(module=str(module), level=0, names=names):
            if _is_module(module):
                yield module
            yield from (name for one in names if _is_function(name := f"{module}.{one.name}"))
        case ast.Call(func=ast.Name(id="getattr" | "vars"), args=[held, *rest]):
            asked = rest[0].value if rest and isinstance(rest[0], ast.Constant) else None
            if (holder := _resolve(held, known)) in _HOLDERS and (
                asked is None or _is_function(f"{holder}.{asked!s}")
            ):
                yield f"getattr({holder})"
        case ast.Attribute(attr="__dict__", value=held) if _resolve(held, known) in _HOLDERS:
            yield "__dict__"
        case ast.Call(func=ast.Attribute(attr="replace"), args=[_], keywords=[]):
            yield "replace"  # of a path: that of a text takes two
        case ast.Name() | ast.Attribute():
            found = _resolve(node, known)
            if found is not None and _is_function(found):
                yield found
            elif isinstance(node, ast.Attribute) and node.attr in METHODS:
                yield node.attr


def _is_module(name: str) -> bool:
    return name.partition(".")[0] in MODULES or name == "urllib.request"


def _is_function(name: str) -> bool:
    return name in FUNCTIONS or name.startswith(FAMILIES)


def _resolve(node: ast.AST, known: dict[str, str]) -> str | None:
    """The full name of what a name or an attribute stands for."""
    match node:
        case ast.Name(id=name):
            return known.get(name, name)
        case ast.Attribute(value=value, attr=attr):
            return None if (inner := _resolve(value, known)) is None else f"{inner}.{attr}"
    return None
