#!/usr/bin/env python3
"""Writes a tiny language model with random weights, in GGUF: make_gguf.py FILE [--seed N].

The architecture is llama's with one layer; the vocabulary holds the words of the language, single characters and all
bytes, so that any text can be read and short answers can be whole programs. The model knows nothing: the first
component of every embedding is constant, and through it each token has a likelihood of its own (closing brackets and
the end often, comments seldom), the rest is noise. Standard library only.
"""
import argparse
import array
import random
import struct

WIDTH, HEADS, INNER, CONTEXT, CONSTANT = 64, 2, 64, 8192, 4.0
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6
WORDS = ("use const workload hardware mapping test model verify sweep as dim tensor max min memory array compute for par "
         "by into on keep all in let permute seq do of expect out against over where minimize maximize pareto top if then "
         "else and or not true false step sum ceil floor divisors pow2 capacity bandwidth energy read_energy clock "
         "multicast int8 int16 gemm conv edge DRAM GLB PE RF 16 64 128 256 KiB MiB MHz pJ").split()
LIKELY = {"</s>": 2.5, "}": 2.5, ")": 3, "]": 3, "▁": 2, "{": 1.5, "=": 1, "(": -1.5, "[": -1, "#": -9, '"': -4, "+": -1,
          "-": -2, "*": -1, "/": -1, "%": -2, ",": -1, ";": -1, "_": -3, "not": -2, "if": -2, "sum": -2, "\\": -4}


def vocabulary():
    """(text, kind, likelihood) of each token."""
    out = [("<unk>", UNKNOWN, -30), ("<s>", CONTROL, -30), ("</s>", CONTROL, LIKELY["</s>"])]
    out += [(f"<0x{byte:02X}>", BYTE, 0 if byte == 10 else -12) for byte in range(256)]
    for char in map(chr, range(33, 127)):
        out.append((char, NORMAL, LIKELY.get(char, -1.5 if char.isalnum() else -0.5)))
    out.append(("▁", NORMAL, LIKELY["▁"]))
    return out + [(word, NORMAL, LIKELY.get(word, 0.5)) for word in WORDS]


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def entry(key, kind, value):
    """A key of the header: kinds are those of GGUF (4 u32, 6 f32, 7 bool, 8 text, 9 array)."""
    pack = {4: lambda v: struct.pack("<I", v), 5: lambda v: struct.pack("<i", v), 6: lambda v: struct.pack("<f", v),
            7: lambda v: struct.pack("<?", v), 8: text}
    if isinstance(kind, tuple):
        body = struct.pack("<IQ", kind[1], len(value)) + b"".join(pack[kind[1]](v) for v in value)
        return text(key) + struct.pack("<I", 9) + body
    return text(key) + struct.pack("<I", kind) + pack[kind](value)


def main():
    args = argparse.ArgumentParser()
    args.add_argument("file")
    args.add_argument("--seed", type=int, default=1)
    args = args.parse_args()
    rng = random.Random(args.seed)
    tokens = vocabulary()

    def noise(rows, spread, first=None):
        """rows of WIDTH numbers; the first of each row may be given."""
        values = array.array("f", (rng.gauss(0, spread) for _ in range(rows * WIDTH)))
        for row in range(rows if first else 0):
            values[row * WIDTH] = first[row]
        return values

    ones = array.array("f", [1.0] * WIDTH)
    level = CONSTANT / ((CONSTANT ** 2 + WIDTH - 1) / WIDTH) ** 0.5  # of the constant behind the last norm
    tensors = {
        "token_embd.weight": ([WIDTH, len(tokens)], noise(len(tokens), 1, [CONSTANT] * len(tokens))),
        "blk.0.attn_norm.weight": ([WIDTH], ones), "blk.0.ffn_norm.weight": ([WIDTH], ones),
        "output_norm.weight": ([WIDTH], ones),
        "output.weight": ([WIDTH, len(tokens)], noise(len(tokens), 0.13, [likely / level for _, _, likely in tokens])),
    }
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        tensors[f"blk.0.{name}.weight"] = ([WIDTH, WIDTH], noise(WIDTH, 0.06))

    header = [
        entry("general.architecture", 8, "llama"), entry("general.name", 8, "noise"),
        entry("llama.block_count", 4, 1), entry("llama.context_length", 4, CONTEXT),
        entry("llama.embedding_length", 4, WIDTH), entry("llama.feed_forward_length", 4, INNER),
        entry("llama.attention.head_count", 4, HEADS), entry("llama.attention.layer_norm_rms_epsilon", 6, 1e-5),
        entry("llama.rope.dimension_count", 4, WIDTH // HEADS), entry("llama.vocab_size", 4, len(tokens)),
        entry("tokenizer.ggml.model", 8, "llama"),
        entry("tokenizer.ggml.tokens", (9, 8), [token for token, _, _ in tokens]),
        entry("tokenizer.ggml.scores", (9, 6), [float(len(token)) for token, _, _ in tokens]),
        entry("tokenizer.ggml.token_type", (9, 5), [kind for _, kind, _ in tokens]),
        entry("tokenizer.ggml.bos_token_id", 4, 1), entry("tokenizer.ggml.eos_token_id", 4, 2),
        entry("tokenizer.ggml.unknown_token_id", 4, 0), entry("tokenizer.ggml.add_space_prefix", 7, False),
    ]
    infos, data = [], bytearray()
    for name, (shape, values) in tensors.items():
        data += b"\0" * (-len(data) % 32)
        infos.append(text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data)))
        data += struct.pack(f"<{len(values)}f", *values)
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(header)) + b"".join(header) + b"".join(infos)
    with open(args.file, "wb") as out:
        out.write(head + b"\0" * (-len(head) % 32) + data)


main()
