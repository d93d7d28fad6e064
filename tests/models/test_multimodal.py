"""Models that also read pictures or sound are tested as the language models that they contain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import multimodal
import pytest
import tiny
import torch
import transformers
from asking import answer_all

from gendalens.errors import UserError
from gendalens.models.detect import load_model
from gendalens.models.requests import Fill, Request, Score

REQUESTS: list[Request] = [
    *(Score(sentence) for sentence in tiny.SENTENCES),
    Score("sejler den hver dag.", given="Hun "),
    Fill("Det er ", " båd.", ("hans", "hendes")),
]


@pytest.mark.parametrize("kind", multimodal.KINDS)
def test_a_text_is_scored_as_by_the_language_model_alone(kind: str, tmp_path: Path) -> None:
    """Together, where rows are padded and share their beginnings, and each row by transformers."""
    model = multimodal.make_model(kind, tiny.gemma())
    backend: Any = load_model(multimodal.save(tmp_path / kind, model))
    assert backend.info.kind.code == "causal_lm"
    alone = multimodal.make_text_model(model) or model
    answers = answer_all(backend, REQUESTS)
    for request in REQUESTS:
        (item,) = backend.encode([request])
        expected = [_read(alone, item.inputs[row])[at, token] for row, at, token in item.asked]
        answer: Any = answers[request]
        found = answer.log_likelihood if isinstance(request, Score) else sum(answer.log_probs)
        assert found == pytest.approx(float(sum(expected)), abs=1e-4)


@pytest.mark.parametrize("kind", ["aya_vision", "llava_next"])
def test_a_wrapper_that_forgets_the_scale_of_the_logits_is_not_believed(kind: str) -> None:
    """What these two leave out in transformers 5.22; without it, the test above shows nothing."""
    model = multimodal.make_model(kind, tiny.gemma())
    alone = multimodal.make_text_model(model)
    row = (2, 7, 8, 9)
    assert (_read(model, row) - _read(alone, row)).abs().max() > 1


def test_the_part_that_reads_pictures_is_not_kept(tmp_path: Path) -> None:
    model = multimodal.make_model("llava", tiny.gemma())
    backend: Any = load_model(multimodal.save(tmp_path / "llava", model))
    backend.answer(backend.encode(REQUESTS[:1]))
    assert type(backend.network._model) is transformers.LlamaForCausalLM


def test_a_model_that_must_see_a_picture_is_refused(tmp_path: Path) -> None:
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.BlipConfig(
        text_config={
            **sizes,
            "vocab_size": 250,
            "intermediate_size": 48,
            "encoder_hidden_size": 32,
        },
        vision_config={**sizes, "intermediate_size": 48, "image_size": 28, "patch_size": 14},
    )
    name = multimodal.save(tmp_path / "blip", transformers.BlipForConditionalGeneration(config))
    backend = load_model(name)
    encoded = backend.encode(REQUESTS[:1])
    with pytest.raises(
        UserError, match=r"BlipForConditionalGeneration\) cannot read even a short text"
    ):
        backend.answer(encoded)


@pytest.mark.parametrize(
    "config",
    [
        transformers.Florence2Config(),
        transformers.Blip2Config(text_config={"model_type": "t5"}),
        transformers.VisionEncoderDecoderConfig(
            encoder={"model_type": "vit"}, decoder={"model_type": "gpt2"}
        ),
    ],
    ids=lambda config: config.model_type,
)
def test_an_encoder_decoder_does_not_slip_in_among_them(config: Any, tmp_path: Path) -> None:
    names = transformers.models.auto.modeling_auto.MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES
    config.architectures = [names[config.model_type]]
    tiny.gemma().save_pretrained(tmp_path)
    config.save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(UserError, match="is an encoder–decoder"):
        load_model(str(tmp_path))


def _read(model: Any, row: tuple[int, ...]) -> Any:
    with torch.no_grad():
        ids = torch.tensor([row])
        return model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0].log_softmax(-1)
