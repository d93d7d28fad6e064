"""What each option of run, requests, score, power and demo does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from command_line import PULLED, CommandLine, Done, Table, files_in
from families import opened
from small_data import small_data

from gendalens.errors import UserError
from gendalens.models.base import LoadOptions
from gendalens.models.endpoint_options import EndpointOptions
from gendalens.results import saved_results
from gendalens.words import current_language

TABLE = Table()
row = TABLE.row

ABC = ("--data", "builtin", "--sample", "12")
NER = ("--data", "builtin", "--sample", "4")
FIVE = ["coref-abc", "coref-dawinobias", "lm-abc", "lm-dawinobias", "ner-dane"]


def run(
    line: CommandLine, *arguments: str, model: str = "control:stereotyped", **more: Any
) -> Done:
    """``lm-abc`` on a few sentences, as JSON."""
    line.skip_pages()
    return line("run", model, "--tasks", "lm-abc", *ABC, "--json", *arguments, **more)


def tag(line: CommandLine, *arguments: str, model: str = "control:stereotyped") -> Done:
    """``ner-dane`` on a few sentences, as JSON."""
    line.skip_pages()
    return line("run", model, "--tasks", "ner-dane", *NER, "--json", *arguments)


def ask(line: CommandLine, *arguments: str, task: str = "lm-abc") -> list[Any]:
    """The lines of a file of requests."""
    return line("requests", task, "--out", "-", *arguments).lines


def score(line: CommandLine, *arguments: str, task: str = "lm-abc", **more: Any) -> Done:
    """The answers in the folder, scored."""
    line.skip_pages()
    answers = line.folder / "answers.jsonl"
    return line("score", task, answers, "--model-name", "x", "--json", *arguments, **more)


def see(line: CommandLine, *arguments: str, task: str = "lm-abc") -> Any:
    """What ``power`` says, as JSON."""
    return line("power", task, "--json", *arguments).plain


# run


@row("run MODEL...")
def _(line: CommandLine, command: str) -> None:
    line.skip_pages()
    done = line("run", "control:fair", "control:always-han", "--tasks", "lm-abc", *ABC, "--json")
    names = [result["model"]["name"] for result in done.plain]
    assert names == ["control:fair", "control:always-han"]


@row("run --tasks")
def _(line: CommandLine, command: str) -> None:
    line.skip_pages()

    def tests(*arguments: str) -> list[str]:
        done = line("run", "control:fair", *NER, "--json", *arguments)
        return [result["task"] for result in done.plain]

    assert sorted(tests()) == FIVE
    assert tests("--tasks", "lm-abc,coref-abc") == ["lm-abc", "coref-abc"]
    assert tests("--tasks", "ner-dane", "--tasks", "coref-abc") == ["ner-dane", "coref-abc"]


@row("run --protocol")
def _(line: CommandLine, command: str) -> None:
    line.skip_pages()
    abc = f"abc={small_data(line.folder / 'data')['abc']}"
    chosen = ("--tasks", "lm-abc", "--data", abc, "--sample", "4", "--json")
    for arguments, protocol in ((), 2), (("--protocol", "1"), 1):
        # So few sentences need not give protocol 1 a ratio.
        done = line("run", "demo-lm", *chosen, *arguments, fails=None)
        assert done.result["protocol"] == protocol
        assert done.signed("test") == f"lm-abc@{protocol}"


@row("run --data", "requests --data", "score --data", "power --data")
def _(line: CommandLine, command: str) -> None:
    line.skip_pages()
    line.forbid_fetching()
    folder = small_data(line.folder / "data")["abc"]
    start = {"run": ["control:fair", "--tasks", "lm-abc", "--json"], "score": ["lm-abc", "a.jsonl"]}
    start["score"] += ["--model-name", "x", "--json"]
    start |= {"requests": ["lm-abc", "--out", "-"], "power": ["lm-abc", "--json"]}
    for choice, whose in (
        ("builtin", "builtin"),
        ("abc=builtin", "builtin"),
        (f"abc={folder}", "own"),
    ):
        chosen = ("--data", choice, "--sample", "4")
        if command == "score":
            start["score"][1] = str(line.answer("lm-abc", *chosen))
        done = line(command, *start[command], *chosen)
        plain = done.lines[0] if command == "requests" else done.plain
        found = plain[0] if isinstance(plain, list) else plain
        assert found["data"]["abc"]["whose"] == whose
    # Without it, the official set is wanted.
    assert f"{PULLED} abc" in line(command, *start[command], fails=True).err


@row("run --out", "score --out")
def _(line: CommandLine, command: str) -> None:
    start = ["run", "control:fair", "--tasks", "lm-abc", *ABC]
    model = "control_fair"
    if command == "score":
        line.answer("lm-abc", *ABC)
        start = ["score", "lm-abc", str(line.folder / "answers.jsonl"), "--model-name", "m", *ABC]
        model = "m"
    for arguments, folder in ((), "runs"), (("--out", "here"), "here"), (("-o", "there"), "there"):
        assert not Path(folder).exists()
        line(*start, *arguments)
        written = files_in(Path(folder))
        (result,) = [file for file in written if file.endswith("result.json")]
        assert result.startswith(f"{model}/lm-abc@2-")
        assert "report.html" in written


@row("run --seed")
def _(line: CommandLine, command: str) -> None:
    line.skip_pages()
    abc = f"abc={small_data(line.folder / 'data')['abc']}"
    chosen = ("run", "control:stereotyped", "--tasks", "lm-abc", "--data", abc, "--json")
    first, other, same = (line(*chosen, "--seed", seed) for seed in ("0", "7", "7"))
    assert [first.signed("seed"), other.signed("seed")] == ["0", "7"]
    assert line(*chosen).out == first.out
    assert other.out == same.out
    assert first.result["gap"]["value"] == other.result["gap"]["value"]
    assert first.result["gap"]["low"] != other.result["gap"]["low"]  # resampled otherwise
    # A sample is drawn by it as well.
    drawn = [run(line, "--seed", seed).result["conditions"][0]["value"] for seed in ("0", "7")]
    assert drawn[0] != drawn[1]


@row("run --sample")
def _(line: CommandLine, command: str) -> None:
    line.skip_pages()
    abc = f"abc={small_data(line.folder / 'data')['abc']}"  # 64 triples
    chosen = ("run", "control:fair", "--tasks", "lm-abc", "--data", abc, "--json")
    for arguments, said, triples in ((), "all", 64), (("--sample", "16"), "16", 16):
        done = line(*chosen, *arguments)
        assert done.signed("sample") == said
        assert {cell["n"] for cell in done.result["conditions"]} == {triples}
        assert done.result["coverage"]["triples_asked"] == triples


@row("run --negligible", "score --negligible")
def _(line: CommandLine, command: str) -> None:
    line.answer("lm-abc", *ABC)

    def bands(*arguments: str) -> tuple[float, float, str | None]:
        done = run(line, *arguments) if command == "run" else score(line, *ABC, *arguments)
        finding = done.result["finding"]
        return finding["main"]["band"], finding["groups"]["band"], done.signed("negligible")

    assert bands() == (0.25, 0.5, None)
    assert bands("--negligible", "lm-abc=0.75") == (0.75, 1.5, "0.75_bits")
    assert bands("--negligible", "lm-abc:bits=2")[0] == 2
    with pytest.raises(AssertionError, match="ner-dane has no effect on lm-abc@2"):
        bands("--negligible", "ner-dane=0.1")


@row("run --revision")
def _(line: CommandLine, command: str) -> None:
    assert (
        "leave --revision v2 out" in run(line, "--revision", "v2", model="demo-lm", fails=True).err
    )
    _arrives(line, ("--revision", "v2"), revision="v2")


@row("run --device")
def _(line: CommandLine, command: str) -> None:
    refused = run(line, "--device", "xla:3", model="demo-lm", fails=True)
    assert "The device xla:3 cannot be used" in refused.err
    _arrives(line, ("--device", "mps"), device="mps")


ENDPOINT = (
    "--endpoint", "--key-env", "--header", "--answer-by", "--price-in", "--price-out",
    "--max-tokens-total", "--keep-raw", "--timeout",
)  # fmt: skip


@row(*(f"run {option}" for option in ENDPOINT))
def _(line: CommandLine, command: str) -> None:
    line.skip_pages()
    start = ("run", "openai:m", "--tasks", "lm-abc", *ABC)
    assert "add --endpoint URL" in line(*start, fails=True).err
    # What each of them does is shown in tests/models/test_endpoints.py, with a server.
    given = (
        "--endpoint", "http://127.0.0.1:9/v1", "--key-env", "NO_SUCH_KEY", "--header", "X-A: b",
        "--answer-by", "text", "--price-in", "1", "--price-out", "2", "--max-tokens-total", "9",
        "--keep-raw", "--timeout", "3",
    )  # fmt: skip
    assert "NO_SUCH_KEY is not set" in line(*start, *given, fails=True).err
    seen = list[EndpointOptions]()

    def load(name: str, options: LoadOptions) -> Any:
        assert isinstance(options.endpoint, EndpointOptions)
        seen.append(options.endpoint)
        raise UserError("That is all.")

    line.patch.setattr("gendalens.engine.session.load_model", load)
    assert "That is all." in line(*start, *given, fails=True).err
    assert seen == [
        EndpointOptions(
            urls=("http://127.0.0.1:9/v1",), key_env="NO_SUCH_KEY", headers=("X-A: b",),
            answer_by="text", price_in=1.0, price_out=2.0, max_tokens_total=9, keep_raw=True,
            timeout=3.0, run_folder=Path("runs"), use_cache=True,
        )
    ]  # fmt: skip


@row("run --max-memory")
def _(line: CommandLine, command: str) -> None:
    refused = run(line, "--max-memory", "cpu=1GiB", model="demo-lm", fails=True)
    assert "add --device auto, or leave the limit out" in refused.err
    _arrives(
        line,
        ("--device", "auto", "--max-memory", "cpu=1GiB"),
        device="auto",
        max_memory="cpu=1GiB",
    )


@row("run --dtype")
def _(line: CommandLine, command: str) -> None:
    plain, small = run(line, model="demo-lm"), run(line, "--dtype", "bfloat16", model="demo-lm")
    assert [plain.signed("dtype"), small.signed("dtype")] == ["float32", "bfloat16"]
    assert plain.result["conditions"] != small.result["conditions"]
    codes = [[warning["code"] for warning in done.result["warnings"]] for done in (plain, small)]
    assert ["dtype_effect" in code for code in codes] == [False, True]
    _arrives(line, ("--dtype", "float16"), dtype="float16")


@row("run --batch-tokens")
def _(line: CommandLine, command: str) -> None:
    model = line.spy_on_loading()
    most = []
    for arguments in (), ("--batch-tokens", "1"):
        model.batches.clear()
        run(line, *arguments, "--no-cache", "--out", str(line.folder / "run"))
        most.append(max(model.batches))
    (one,) = saved_results.find_results([line.folder / "run"])
    assert one.run["batch_tokens"] == 1
    assert most[0] > most[1] == 1


@row("run --offline")
def _(line: CommandLine, command: str) -> None:
    _fetches_unless_offline(line, "run", "control:fair", "--tasks", "lm-abc")
    _arrives(line, ("--offline",), offline=True)


@row("run --trust-remote-code")
def _(line: CommandLine, command: str) -> None:
    _arrives(line, ("--trust-remote-code",), trust_remote_code=True)
    line.patch.undo()
    folder, marker = line.folder / "model", line.folder / "has-run"
    shutil.copytree(opened("wordpiece cased").folder, folder)
    config = json.loads((folder / "config.json").read_text())
    own = {"model_type": "own", "auto_map": {"AutoConfig": "own.OwnConfig"}}
    (folder / "config.json").write_text(json.dumps(config | own))
    (folder / "own.py").write_text(f"import pathlib\npathlib.Path({str(marker)!r}).touch()\n")
    refused = run(line, model=str(folder), fails=True)
    assert "--trust-remote-code" in refused.err
    assert not marker.exists()
    run(line, "--trust-remote-code", model=str(folder), fails=True)  # it defines no OwnConfig
    assert marker.exists()


@row("run --allow-pickle")
def _(line: CommandLine, command: str) -> None:
    _arrives(line, ("--allow-pickle",), allow_pickle=True)
    line.patch.undo()
    folder = line.folder / "model"
    one = opened("wordpiece cased")
    shutil.copytree(one.folder, folder)
    (folder / "model.safetensors").unlink()
    torch.save(one.model.state_dict(), folder / "pytorch_model.bin")
    assert "--allow-pickle" in run(line, model=str(folder), fails=True).err
    assert run(line, "--allow-pickle", model=str(folder)).result["model"]["name"] == "model"


@row("run --no-cache")
def _(line: CommandLine, command: str) -> None:
    model = line.spy_on_loading()
    asked = []
    for arguments in ("--no-cache",), (), (), ("--no-cache",):
        model.asked.clear()
        run(line, *arguments)
        asked.append(len(model.asked))
    assert asked == [asked[0], asked[0], 0, asked[0]]  # neither stored nor used


@row("run --json", "score --json")
def _(line: CommandLine, command: str) -> None:
    line.skip_pages()
    line.answer("lm-abc", *ABC)
    start = ["run", "control:fair", "--tasks", "lm-abc", *ABC]
    if command == "score":
        answers = str(line.folder / "answers.jsonl")
        start = ["score", "lm-abc", answers, "--model-name", "x", *ABC]
    assert line(*start, "--json").result["task"] == "lm-abc"
    assert "lm-abc@2  " in line(*start).out


@row("run --details", "score --details")
def _(line: CommandLine, command: str) -> None:
    line.skip_pages()
    line.answer("lm-abc", *ABC)
    start = ["run", "control:fair", "--tasks", "lm-abc", *ABC]
    if command == "score":
        start = ["score", "lm-abc", str(line.folder / "answers.jsonl"), "--model-name", "x", *ABC]
    brief, whole = line(*start).out, line(*start, "--details").out
    for word in ("coverage", "signature", "harm"):
        assert f"\n{word}" not in brief
        assert word in whole
    assert "leave out --details" in line(*start, "--json", "--details", fails=True).err


@row("run --language", "score --language", "power --language")
def _(line: CommandLine, command: str) -> None:
    line.skip_pages()
    line.answer("lm-abc", *ABC)
    start: dict[str, tuple[str | Path, ...]] = {
        "run": ("control:fair", "--tasks", "lm-abc", *ABC),
        "score": ("lm-abc", line.folder / "answers.jsonl", "--model-name", "x", *ABC),
        "power": ("lm-abc", *ABC),
    }
    titles = ("is the gender effect size: ", "er kønseffektstørrelsen: ")
    if command == "power":
        titles = ("Language models on ABC: ", "Sprogmodeller på ABC: ")
    for arguments, expected in ((), 0), (("--language", "en"), 0), (("--language", "da"), 1):
        shown = line(command, *start[command], *arguments).words
        assert [title in shown for title in titles] == [expected == 0, expected == 1]


@row("run --repeats")
def _(line: CommandLine, command: str) -> None:
    draws = {}
    for repeats in ("2", "3"):
        out = line.folder / repeats
        done = tag(line, "--repeats", repeats, "--out", str(out))
        assert done.signed("repeats") == repeats
        (one,) = saved_results.find_results([out])
        draws[repeats] = {record["repeat"] for record in one.records()} - {None}
    assert draws == {"2": {0, 1}, "3": {0, 1, 2}}


@row("run --names")
def _(line: CommandLine, command: str) -> None:
    names = {}
    for how in ("top", "matched"):
        out = line.folder / how
        done = tag(line, "--repeats", "2", "--names", how, "--out", str(out))
        assert done.signed("names") == how
        (one,) = saved_results.find_results([out])
        names[how] = [name["name"] for record in one.records() for name in record["names"]]
    assert len(names["top"]) == len(names["matched"])
    assert names["top"] != names["matched"]
    assert tag(line, "--repeats", "2").signed("names") == "top"


@row("run --unisex")
def _(line: CommandLine, command: str) -> None:
    for arguments, extra in ((), False), (("--unisex",), True):
        out = line.folder / f"unisex-{extra}"
        done = tag(line, "--repeats", "1", *arguments, "--out", str(out))
        assert done.signed("extra") == ("unisex" if extra else None)
        (one,) = saved_results.find_results([out])
        assert ("unisex" in {record["gender"] for record in one.records()}) == extra
        figures = {figure["id"] for figure in done.result["extra"]}
        assert ("person_recall_unisex" in figures) == extra


@row("run --labels")
def _(line: CommandLine, command: str) -> None:
    plain, mapped = (
        tag(line, "--repeats", "1", "--sample", "20", *arguments, model="demo-ner")
        for arguments in ((), ("--labels", "LOC=-"))
    )
    _leaves_places_out(plain, mapped)


# requests


@row("requests TASK")
def _(line: CommandLine, command: str) -> None:
    for task, kind in ("lm-abc", "score"), ("ner-dane", "tag"):
        header, first, *_ = ask(line, *NER, task=task)
        assert (header["task"], first["kind"]) == (task, kind)


@row("requests --out")
def _(line: CommandLine, command: str) -> None:
    printed = line("requests", "lm-abc", *ABC, "--out", "-")
    for flag in ("--out", "-o"):
        path = line.folder / f"requests{flag}.jsonl"
        done = line("requests", "lm-abc", *ABC, flag, path)
        assert path.read_text(encoding="utf-8") == printed.out
        assert (done.out, str(path) in done.err) == ("", True)
    assert "--out" in line("requests", "lm-abc", *ABC, fails=True).err


@row("requests --protocol")
def _(line: CommandLine, command: str) -> None:
    abc = f"abc={small_data(line.folder / 'data')['abc']}"
    for arguments, protocol, kind in ((), 2, "score"), (("--protocol", "1"), 1, "reconstruct"):
        header, first, *_ = ask(line, "--data", abc, "--sample", "4", *arguments)
        assert (header["protocol"], first["kind"]) == (protocol, kind)


@row("requests --seed")
def _(line: CommandLine, command: str) -> None:
    default, first, other = (ask(line, *ABC, *seed) for seed in ((), _seed(0), _seed(7)))
    assert default == first
    assert (first[0]["seed"], other[0]["seed"]) == (0, 7)
    assert first[1:] != other[1:]  # another sample


@row("requests --sample")
def _(line: CommandLine, command: str) -> None:
    abc = ("--data", f"abc={small_data(line.folder / 'data')['abc']}")
    for arguments, said, triples in ((), None, 64), (("--sample", "16"), 16, 16):
        header, *asked = ask(line, *abc, *arguments)
        assert (header["sample"], len(asked)) == (said, 3 * triples)


@row("requests --offline", "score --offline", "power --offline")
def _(line: CommandLine, command: str) -> None:
    more = {
        "requests": ("--out", "-"),
        "score": ("answers.jsonl", "--model-name", "x"),
        "power": (),
    }
    _fetches_unless_offline(line, command, "lm-abc", *more[command])


@row("requests --language")
def _(line: CommandLine, command: str) -> None:
    path = line.folder / "requests.jsonl"
    said = [
        line("requests", "lm-abc", *ABC, "--out", path, *language).err
        for language in ((), ("--language", "en"), ("--language", "da"))
    ]
    assert "distinct requests written to" in said[0]
    assert said[0] == said[1]
    assert "forskellige forespørgsler skrevet til" in said[2]


@row("requests --repeats", "requests --names", "requests --unisex", "requests --labels")
def _(line: CommandLine, command: str) -> None:
    """All four, since the lines of one file are compared with those of another."""
    base = ask(line, *NER, "--repeats", "2", task="ner-dane")
    assert base[0]["settings"] == {"repeats": "2", "names": "top"}
    more = ask(line, *NER, "--repeats", "3", task="ner-dane")
    assert more[0]["settings"]["repeats"] == "3"
    assert len(more) > len(base)
    matched = ask(line, *NER, "--repeats", "2", "--names", "matched", task="ner-dane")
    assert matched[0]["settings"]["names"] == "matched"
    assert matched[1:] != base[1:]
    unisex = ask(line, *NER, "--repeats", "2", "--unisex", task="ner-dane")
    assert unisex[0]["settings"]["extra"] == "unisex"
    assert {one["id"] for one in base[1:]} < {one["id"] for one in unisex[1:]}
    labelled = ask(line, *NER, "--repeats", "2", "--labels", "GPE=LOC", task="ner-dane")
    assert labelled[0]["settings"]["labels"] == "GPE=LOC"
    assert labelled[1:] == base[1:]  # they only affect scoring


# score


@row("score TASK", "score ANSWERS")
def _(line: CommandLine, command: str) -> None:
    line.answer("lm-abc", *ABC)
    one = score(line, *ABC).result
    assert one["task"] == "lm-abc"
    assert "cannot be used" in score(line, *NER, "--repeats", "1", task="ner-dane", fails=True).err
    answers = line.folder / "answers.jsonl"
    text = answers.read_text(encoding="utf-8")
    answers.write_text(text.replace('"log_likelihood": -2', '"log_likelihood": -3'))
    assert score(line, *ABC).result["conditions"] != one["conditions"]


@row("score --model-name", "score --revision")
def _(line: CommandLine, command: str) -> None:
    answers = line.answer("lm-abc", *ABC)
    start = ("score", "lm-abc", answers, *ABC, "--json")
    plain = line(*start, "--model-name", "min-model")
    assert plain.result["model"]["name"] == "min-model"
    assert (plain.signed("model") or "").startswith("min-model@")
    named = line(*start, "--model-name", "min-model", "--revision", "v8")
    revisions = [done.result["model"]["revision"] for done in (plain, named)]
    assert ["v8" in revision for revision in revisions] == [False, True]
    assert "--model-name" in line(*start, fails=True).err


@row("score --protocol")
def _(line: CommandLine, command: str) -> None:
    abc = ("--data", f"abc={small_data(line.folder / 'data')['abc']}", "--sample", "4")
    line.answer("lm-abc", *abc, "--protocol", "1")
    assert "match no request" in score(line, *abc, fails=True).err
    done = score(line, *abc, "--protocol", "1")
    assert done.signed("test") == "lm-abc@1"
    assert done.result["protocol"] == 1


@row("score --seed", "score --sample")
def _(line: CommandLine, command: str) -> None:
    drawn = ("--data", "builtin", "--sample", "9", "--seed", "5")
    line.answer("lm-abc", *drawn)
    done = score(line, *drawn)
    assert (done.signed("seed"), done.signed("sample")) == ("5", "9")
    assert done.result["coverage"]["triples_asked"] == 9
    for arguments in drawn[:4], (*drawn[:2], *drawn[4:]):  # other sentences would be asked
        assert "cannot be used" in score(line, *arguments, fails=True).err


@row("score --repeats", "score --names", "score --unisex")
def _(line: CommandLine, command: str) -> None:
    """All three, since each of them decides what is asked."""
    drawn = ("--repeats", "2", "--names", "matched", "--unisex")
    line.answer("ner-dane", *NER, *drawn)
    done = score(line, *NER, *drawn, task="ner-dane")
    signed = [done.signed(name) for name in ("repeats", "names", "extra")]
    assert signed == ["2", "matched", "unisex"]
    for other in drawn[2:], (*drawn[:2], *drawn[4:]), drawn[:4]:
        assert "cannot be used" in score(line, *NER, *other, task="ner-dane", fails=True).err


@row("score --labels")
def _(line: CommandLine, command: str) -> None:
    line.answer("ner-dane", *NER, "--repeats", "1")
    plain, mapped = (
        score(line, *NER, "--repeats", "1", *arguments, task="ner-dane")
        for arguments in ((), ("--labels", "LOC=-"))
    )
    _leaves_places_out(plain, mapped)


# power


@row("power TASK")
def _(line: CommandLine, command: str) -> None:
    assert see(line, *ABC)["task"] == "lm-abc"
    assert see(line, *ABC, task="coref-abc")["task"] == "coref-abc"


@row("power --seed", "power --sample")
def _(line: CommandLine, command: str) -> None:
    builtin = ("--data", "builtin")
    default, few, other = (
        see(line, *builtin, *more)
        for more in (("--sample", "40"), ("--sample", "20"), ("--sample", "40", "--seed", "7"))
    )
    assert [one["sample"] for one in (default, few, other)] == [40, 20, 40]
    assert len({one["figures"][0]["seen"] for one in (default, few, other)}) == 3
    assert see(line, *builtin, "--sample", "40", "--seed", "0") == default


@row("power --negligible")
def _(line: CommandLine, command: str) -> None:
    plain, wide = (see(line, *ABC, *more) for more in ((), ("--negligible", "lm-abc=9")))
    assert [one["figures"][0]["band"] for one in (plain, wide)] == [0.25, 9]
    assert [one["figures"][0]["can_acquit"] for one in (plain, wide)] == [False, True]


@row("power --json")
def _(line: CommandLine, command: str) -> None:
    assert see(line, *ABC)["protocol"] == 2
    assert "lm-abc@2" in line("power", "lm-abc", *ABC).out


@row("power --repeats", "power --names")
def _(line: CommandLine, command: str) -> None:
    """Both, since each changes the names that are drawn and so what could be seen."""
    found = [
        see(line, *NER[:2], "--sample", "12", *more, task="ner-dane")["figures"][0]["seen"]
        for more in (
            ("--repeats", "1", "--names", "top"),
            ("--repeats", "2"),
            ("--repeats", "1", "--names", "matched"),
        )
    ]
    assert len(set(found)) == 3


@row("power --unisex", "power --labels")
def _(line: CommandLine, command: str) -> None:
    """No figure that the test is judged on depends on these two, which a run takes too."""
    base = see(line, *NER, "--repeats", "2", task="ner-dane")
    assert see(line, *NER, "--repeats", "2", "--unisex", task="ner-dane") == base
    assert (
        "GPE=NOWHERE" in line("power", "ner-dane", *NER, "--labels", "GPE=NOWHERE", fails=True).err
    )


# demo


@row("demo --out", "demo --sample", "demo --language")
def _(line: CommandLine, command: str) -> None:
    """All three in one run, since a demo is five tests."""
    line.skip_pages()
    said = line("demo", "--sample", "3", "-o", "here", "--language", "da").words
    assert ("toys with a planted bias" in said, "legetøjsmodeller" in said) == (False, True)
    results = [one.result for one in saved_results.find_results([Path("here")])]
    assert sorted(result.task for result in results) == FIVE
    assert all("|sample:3|" in result.signature for result in results)
    called: list[Any] = []

    def run_demo(out: Path, sample: int | None) -> None:
        called.append((out, sample, current_language()))

    line.patch.setattr("gendalens.cli.demo.run_demo", run_demo)
    line("demo")
    assert called == [(Path("runs/demo"), None, "en")]


def _leaves_places_out(plain: Done, mapped: Done) -> None:
    """The labels of one result are the model's own, and of another without its places."""
    assert (plain.signed("labels"), mapped.signed("labels")) == (None, "LOC=-")
    assert (plain.result["coverage"]["labels"].keys() - mapped.result["coverage"]["labels"]) == {
        "LOC"
    }
    assert plain.result["conditions"] != mapped.result["conditions"]


def _seed(seed: int) -> tuple[str, str]:
    return "--seed", str(seed)


def _arrives(line: CommandLine, arguments: tuple[str, ...], **expected: Any) -> None:
    """Loading is told of this option, of no other, and of none if none is given."""
    line.spy_on_loading()
    line.loaded.clear()
    for given in (), arguments:
        run(line, *given, "--no-cache", model="some/model")
    assert line.loaded == [LoadOptions(), LoadOptions(**expected)]


def _fetches_unless_offline(line: CommandLine, *command: str) -> None:
    line.forbid_fetching()
    assert f"{PULLED} abc" in line(*command, fails=True).err
    assert "may not be fetched offline" in line(*command, "--offline", fails=True).err
