"""GenDa Lens until a causal model is loaded, its digest included, from a folder or a `.gguf` file."""

from __future__ import annotations

import json
import sys
from typing import Any

from memory import peak_mb

from gendalens.api import load_model

model: Any = load_model(sys.argv[1], device="cpu")
model.fingerprint()
model.checkpoint.load_model("AutoModelForCausalLM")
sys.stdout.write(json.dumps({"peak_mb": peak_mb()}) + "\n")
