"""Plain transformers: a tokenizer and a causal model in float32, from a folder or a `.gguf` file."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from memory import peak_mb
from transformers import AutoModelForCausalLM, AutoTokenizer

path = Path(sys.argv[1])
where = {"gguf_file": path.name} if path.suffix == ".gguf" else {}
folder = path.parent if where else path
AutoTokenizer.from_pretrained(folder, **where)
AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **where)
sys.stdout.write(json.dumps({"peak_mb": peak_mb()}) + "\n")
