"""What PyTorch's transformer layers do, call by call; their own forwards, with a choice of ways, cannot be followed."""

from __future__ import annotations

from typing import Any, Callable, Optional

import torch
from torch import nn

__all__ = ["FORWARDS"]

Maybe = Optional[torch.Tensor]


def _attended(attention: Any, dropout: Any, x: Any, memory: Any, mask: Maybe, padding: Maybe) -> Any:
    return dropout(attention(x, memory, memory, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0])


def _encoder_layer(m: Any, src: Any, src_mask: Maybe = None, src_key_padding_mask: Maybe = None,
                   is_causal: bool = False) -> Any:
    def attend(x: Any) -> Any:
        return _attended(m.self_attn, m.dropout1, x, x, src_mask, src_key_padding_mask)

    def feed(x: Any) -> Any:
        return m.dropout2(m.linear2(m.dropout(m.activation(m.linear1(x)))))

    if m.norm_first:
        src = src + attend(m.norm1(src))
        return src + feed(m.norm2(src))
    src = m.norm1(src + attend(src))
    return m.norm2(src + feed(src))


def _decoder_layer(m: Any, tgt: Any, memory: Any, tgt_mask: Maybe = None, memory_mask: Maybe = None,
                   tgt_key_padding_mask: Maybe = None, memory_key_padding_mask: Maybe = None, tgt_is_causal: bool = False,
                   memory_is_causal: bool = False) -> Any:
    def attend(x: Any) -> Any:
        return _attended(m.self_attn, m.dropout1, x, x, tgt_mask, tgt_key_padding_mask)

    def look(x: Any) -> Any:
        return _attended(m.multihead_attn, m.dropout2, x, memory, memory_mask, memory_key_padding_mask)

    def feed(x: Any) -> Any:
        return m.dropout3(m.linear2(m.dropout(m.activation(m.linear1(x)))))

    if m.norm_first:
        tgt = tgt + attend(m.norm1(tgt))
        tgt = tgt + look(m.norm2(tgt))
        return tgt + feed(m.norm3(tgt))
    tgt = m.norm1(tgt + attend(tgt))
    tgt = m.norm2(tgt + look(tgt))
    return m.norm3(tgt + feed(tgt))


def _encoder(m: Any, src: Any, mask: Maybe = None, src_key_padding_mask: Maybe = None, is_causal: Any = None) -> Any:
    for layer in m.layers:
        src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask)
    return src if m.norm is None else m.norm(src)


def _decoder(m: Any, tgt: Any, memory: Any, tgt_mask: Maybe = None, memory_mask: Maybe = None,
             tgt_key_padding_mask: Maybe = None, memory_key_padding_mask: Maybe = None, tgt_is_causal: Any = None,
             memory_is_causal: bool = False) -> Any:
    for layer in m.layers:
        tgt = layer(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                    memory_key_padding_mask=memory_key_padding_mask)
    return tgt if m.norm is None else m.norm(tgt)


def _transformer(m: Any, src: Any, tgt: Any, src_mask: Maybe = None, tgt_mask: Maybe = None, memory_mask: Maybe = None,
                 src_key_padding_mask: Maybe = None, tgt_key_padding_mask: Maybe = None,
                 memory_key_padding_mask: Maybe = None, src_is_causal: Any = None, tgt_is_causal: Any = None,
                 memory_is_causal: bool = False) -> Any:
    memory = m.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask)
    return m.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                     memory_key_padding_mask=memory_key_padding_mask)


FORWARDS: dict[type, Callable[..., Any]] = {
    nn.TransformerEncoderLayer: _encoder_layer,
    nn.TransformerDecoderLayer: _decoder_layer,
    nn.TransformerEncoder: _encoder,
    nn.TransformerDecoder: _decoder,
    nn.Transformer: _transformer,
}
