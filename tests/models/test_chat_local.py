"""Chat models at home: exact probabilities of the options, through the model's own template."""

from __future__ import annotations

import math
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import slow
import tiny
import transformers
from asking import answer_all

from gendalens.data.choice import read_choices
from gendalens.engine.run_options import RunOptions
from gendalens.engine.selection import choose_tests
from gendalens.errors import UserError
from gendalens.models.chat.respondent import Reply, Turn
from gendalens.models.chat.template import ChatTemplate
from gendalens.models.detect import load_model
from gendalens.models.requests import Choose, Fill, FillAnswer, Request, Resolve, Tag

FILL = Fill("Gartneren gik hjem, før ", " spiste.", ("hun", "han"))
REQUESTS: list[Request] = [
    FILL,
    Resolve("Læreren sagde til bageren, at hun sov.", (), (30, 33), ((0, 7), (18, 25))),
    Resolve("Læreren solgte hans båd.", (), (15, 19), ((0, 7),)),
    Choose(("Læreren solgte hans båd.", "Læreren solgte hendes båd.")),
]

_MARKED = (
    "{% for message in messages %}<|turn|>{{ message.role }}\n{{ message.content }}<|stop|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|turn|>assistant\n{% endif %}"
)
_WITH_BOS = "{{ bos_token }}" + _MARKED
_TWICE = "{{ bos_token }}{{ bos_token }}" + _MARKED
# As Qwen 3, which thinks unless it is told not to, and as DeepSeek R1, which always does.
_SWITCH = "{% if enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
_MAY_THINK = _MARKED.removesuffix("{% endif %}") + _SWITCH
_THINKS = _MARKED.removesuffix("{% endif %}") + "<think>\n{% endif %}"
# As Llama 2: the answer follows a space, and nothing asks for it.
_SPACED = (
    "{{ bos_token }}{% for message in messages %}{% if message.role == 'user' %}"
    "[INST] {{ message.content }} [/INST]{% else %} {{ message.content }} {{ eos_token }}{% endif %}"
    "{% endfor %}"
)
_OPEN_END = (
    "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)

_home = tempfile.TemporaryDirectory(prefix="gendalens-chat-")


class Opened(NamedTuple):
    """A tiny chat model: its name, and plain transformers."""

    name: str
    tokenizer: Any
    model: Any


@cache
def opened(template: str | None) -> Opened:
    folder = Path(_home.name) / str(abs(hash(template)))
    tokenizer: Any = tiny.gpt2(specials=True)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|turn|>", "<|stop|>"]})
    if template:
        tokenizer.chat_template = template
    tiny.save(folder, tiny.gpt2_model(tokenizer, window=512), tokenizer)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    return Opened(str(folder), transformers.AutoTokenizer.from_pretrained(folder), model)


def slow_log_prob(tested: Opened, prompt: str, options: list[str], *, front: bool) -> float:
    """The log-probability that the model continues the prompt with one of the texts."""
    total = 0.0
    start = tested.tokenizer.bos_token_id
    for text in options:
        ids = slow.plain(tested.tokenizer, prompt)
        begin = len(ids)
        ids = ids + slow.plain(tested.tokenizer, text)
        while ids[0] == start:
            ids, begin = ids[1:], begin - 1
        row = [start, *ids] if front else ids
        shift = len(row) - len(ids)
        value = math.fsum(
            float(slow.log_probs(tested.model, row[:at], -1)[row[at]])
            for at in range(begin + shift, len(row))
        )
        total += math.exp(value)
    return math.log(total)


@pytest.mark.parametrize(
    ("template", "front", "before", "after"),
    [
        (_MARKED, False, "", "<|stop|>"),
        (_WITH_BOS, True, "", "<|stop|>"),
        (_TWICE, True, "", "<|stop|>"),
        (_SPACED, True, " ", "<|end|>"),
        (_OPEN_END, False, "", ""),
    ],
)
def test_the_probability_of_an_option_equals_a_slow_loop_over_its_tokens(
    template: str, front: bool, before: str, after: str
) -> None:
    tested = opened(template)
    backend: Any = load_model(f"chat:{tested.name}")
    answer = answer_all(backend, [FILL])[FILL]
    assert isinstance(answer, FillAnswer)
    assert (backend.model.template.before, backend.model.template.after) == (before, after)
    asked = backend.interview.ask(FILL, "")
    for trial, asking in zip(answer.trials, asked, strict=True):
        prompt = tested.tokenizer.apply_chat_template(
            [{"role": "user", "content": asking.question.turns[0].text}],
            tokenize=False,
            add_generation_prompt=True,
        )
        for word, found in zip(FILL.candidates, trial.log_probs, strict=True):
            forms = [word, word.capitalize()]
            if after:
                forms += [f"{form}." for form in forms]
            texts = [f"{before}{form}{after}" for form in forms]
            expected = slow_log_prob(tested, prompt, texts, front=front)
            assert found == pytest.approx(expected, abs=1e-4)


def test_a_thought_that_the_template_begins_is_ended_before_the_answer() -> None:
    may_think, thinks = (load_model(f"chat:{opened(one).name}") for one in (_MAY_THINK, _THINKS))
    prompts = [one.model.template.render((Turn("user", "Hej"),)) for one in (may_think, thinks)]  # type: ignore[attr-defined]
    assert prompts[0] == prompts[1]
    assert prompts[0].endswith("<|turn|>assistant\n<think>\n\n</think>\n\n")
    answers = [answer_all(one, [FILL])[FILL] for one in (may_think, thinks)]
    assert answers[0] == answers[1]
    plain = load_model(f"chat:{opened(_MARKED).name}")
    assert answer_all(plain, [FILL])[FILL] != answers[0]


def test_answers_do_not_depend_on_what_is_asked_together() -> None:
    tested = opened(_MARKED)
    name = f"chat:{tested.name}"
    together: dict[Any, Any] = answer_all(load_model(name), REQUESTS, batch_tokens=4096)
    alone: dict[Any, Any] = answer_all(load_model(name), REQUESTS, batch_tokens=1)
    for request in together:
        pairs = zip(together[request].trials, alone[request].trials, strict=True)
        for one, other in pairs:
            assert one[:2] == other[:2]
            assert one.log_probs == pytest.approx(other.log_probs, abs=1e-4)


def test_the_prompt_of_a_question_runs_once_for_all_its_options(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend: Any = load_model(f"chat:{opened(_MARKED).name}")
    (item,) = backend.encode([FILL])
    network = backend.model.network
    read: list[int] = []
    run = network.run

    def count(ids: Any, *rest: Any, **more: Any) -> Any:
        read.append(ids.numel())
        return run(ids, *rest, **more)

    monkeypatch.setattr(network, "run", count)
    backend.answer([item])
    rows = [row for question in item.questions for one in question.items for row in one.inputs]
    assert sum(read) < 0.4 * sum(map(len, rows))


TAG = Tag("Anna bor i Ribe.")


@pytest.mark.parametrize("template", [_MARKED, _WITH_BOS, _SPACED])
def test_a_list_is_written_by_the_likeliest_token_each_time(
    template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tested = opened(template)
    backend: Any = load_model(f"chat:{tested.name}")
    (item,) = backend.encode([TAG])
    (row,) = item.prompts
    (asking,) = item.askings
    turns = [{"role": "user", "content": asking.question.turns[0].text}]
    prompt = tested.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    assert tuple(slow.plain(tested.tokenizer, prompt)) == row
    expected = list(row)
    for _ in range(12):
        expected.append(int(slow.log_probs(tested.model, expected, -1).argmax()))
    assert backend.model.network.write(row, most=12, ends=()) == (
        tuple(expected[len(row) :]),
        False,
    )
    # It ends where the model's turn ends, and that is no part of the answer.
    end = expected[len(row) + 5]
    before = tuple(expected[len(row) : expected.index(end, len(row))])
    assert backend.model.network.write(row, most=12, ends={end}) == (before, True)


def test_a_written_list_is_read_like_that_of_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    backend: Any = load_model(f"chat:{opened(_MARKED).name}")
    (item,) = backend.encode([TAG])
    cut_off = backend.answer([item])[0]
    assert [trial.outcome for trial in cut_off.trials] == ["cut off"]
    text = '{"navne": [{"navn": "Anna", "type": "PER"}, {"navn": "Ribe", "type": "LOC"}]}'
    monkeypatch.setattr(type(backend.model), "write", lambda *_: Reply(text=text))
    assert backend.answer([item])[0].entities == ((0, 4, "PER"), (11, 15, "LOC"))


def test_a_list_is_written_only_if_its_test_is_named() -> None:
    backend = load_model(f"chat:{opened(_MARKED).name}")
    options = RunOptions(data=read_choices("builtin"))
    chosen = [plan.card.name for plan in choose_tests(backend, None, options)]
    assert chosen == ["chat-abc", "coref-abc", "coref-dawinobias", "lm-dawinobias"]
    assert [plan.card.name for plan in choose_tests(backend, ["ner-dane"], options)] == ["ner-dane"]
    assert any("unless you name them" in str(remark) for remark in backend.remarks)


def test_a_base_model_is_refused_in_one_sentence() -> None:
    with pytest.raises(UserError, match=r"has no chat template.* run it without chat:"):
        load_model(f"chat:{opened(None).name}")


def test_a_model_of_another_kind_is_refused_in_one_sentence(tmp_path: Path) -> None:
    tokenizer = tiny.wordpiece()
    folder = tiny.save(tmp_path, tiny.bert_model(tokenizer), tokenizer)
    with pytest.raises(UserError, match="is a masked language model"):
        load_model(f"chat:{folder}")


@pytest.mark.parametrize("name", ["chat:", "chat:x?prompt=3", "chat:x?system=maybe", "chat:x?on"])
def test_a_name_that_says_nothing_is_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(UserError, match="chat:MODEL"):
        load_model(name)


def test_a_template_that_fails_is_refused_in_one_sentence() -> None:
    failing = "{{ raise_exception('System role not supported') }}"
    with pytest.raises(UserError, match=r"chat template of .* \(System role not supported\)"):
        load_model(f"chat:{opened(failing).name}")


def test_a_system_message_is_part_of_name_and_fingerprint() -> None:
    name = f"chat:{opened(_MARKED).name}"
    plain, other = load_model(name), load_model(f"{name}?system=on")
    assert other.info.name == f"{plain.info.name}?system=on"
    assert plain.fingerprint() != other.fingerprint()


def test_the_template_is_part_of_fingerprint_and_signature() -> None:
    models: list[Any] = [load_model(f"chat:{opened(one).name}") for one in (_MARKED, _WITH_BOS)]
    digests = [next(s for s in one.info.software if "template" in s) for one in models]
    assert len(set(digests)) == 2
    models[1].model.template = models[0].model.template
    models[1].model.fingerprint = models[0].model.fingerprint
    assert models[0].fingerprint() == models[1].fingerprint()
    del models[1].model.template
    models[1].model.template = ChatTemplate(opened(_WITH_BOS).tokenizer, "x")
    assert models[0].fingerprint() != models[1].fingerprint()


def test_a_template_that_tells_the_date_tells_the_same_one_every_day() -> None:
    tokenizer = tiny.gpt2(specials=True)
    tokenizer.chat_template = "{{ strftime_now('%d %B %Y') }} / {{ date_string }}"
    template = ChatTemplate(tokenizer, "x")
    assert template.render([Turn("user", "Hej")]) == "01 January 2026 / 01 Jan 2026"


def test_a_model_with_a_template_says_so_when_it_is_read_as_a_plain_one() -> None:
    name = opened(_MARKED).name
    notices = [notice.code for notice in load_model(name).notices]
    assert "causal_lm.read_as_plain" in notices
    asked = [notice.code for notice in load_model(f"chat:{name}").notices]
    assert asked[0] == "chat.prompted"
    assert "causal_lm.read_as_plain" not in asked
    assert "causal_lm.read_as_plain" not in [n.code for n in load_model(opened(None).name).notices]
