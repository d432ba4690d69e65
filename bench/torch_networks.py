"""The zoo's networks of today as one writes them in PyTorch, and parts of them with a share of the droppable units."""

import torch
from torch import nn
from torch.nn import functional as F

NORM_GROUPS = 2


class Block(nn.Module):
    def __init__(self, before, units, inner, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, inner, 3, stride, 1, bias=False)
        self.norm1 = nn.GroupNorm(NORM_GROUPS, inner)
        self.conv2 = nn.Conv2d(inner, units, 3, 1, 1, bias=False)
        self.norm2 = nn.GroupNorm(NORM_GROUPS, units)
        self.shortcut = nn.Identity()
        if stride > 1:
            self.shortcut = nn.Sequential(nn.Conv2d(before, units, 1, stride, bias=False), nn.GroupNorm(NORM_GROUPS, units))

    def forward(self, x):
        return F.relu(self.shortcut(x) + self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x))))))


class ResNet18(nn.Module):
    """`keep` of the units inside the blocks."""

    def __init__(self, keep=1.0):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
        self.norm1 = nn.GroupNorm(NORM_GROUPS, 64)
        blocks, before = [], 64
        for units, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            blocks.append(Block(before, units, round(keep * units), stride))
            blocks.append(Block(units, units, round(keep * units), 1))
            before = units
        self.blocks = nn.Sequential(*blocks)
        self.dense = nn.Linear(before, 10)

    def forward(self, x):
        return self.dense(self.blocks(F.relu(self.norm1(self.conv1(x)))).mean((2, 3)))


class TransformerBlock(nn.Module):
    def __init__(self, width, heads, head_units, hidden):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.Linear(width, 3 * heads * head_units)
        self.dense1 = nn.Linear(heads * head_units, width)
        self.norm2 = nn.LayerNorm(width)
        self.dense2 = nn.Linear(width, hidden)
        self.dense3 = nn.Linear(hidden, width)

    def forward(self, x):
        examples, steps, _ = x.shape
        q, k, v = self.attention(self.norm1(x)).reshape(examples, steps, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.dense1(heads.transpose(1, 2).reshape(examples, steps, -1))
        return x + self.dense3(F.gelu(self.dense2(self.norm2(x))))


class CharTransformer(nn.Module):
    """`keep` of the heads and of the hidden units; logits at every step."""

    SYMBOLS, STEPS, WIDTH, HEADS, BLOCKS = 81, 80, 128, 4, 4

    def __init__(self, keep=1.0):
        super().__init__()
        width, heads = self.WIDTH, self.HEADS
        self.embedding = nn.Embedding(self.SYMBOLS, width)
        self.position = nn.Parameter(torch.zeros(self.STEPS, width))
        self.blocks = nn.Sequential(*(TransformerBlock(width, round(keep * heads), width // heads, round(keep * 4 * width))
                                      for _ in range(self.BLOCKS)))
        self.norm = nn.LayerNorm(width)
        self.dense = nn.Linear(width, self.SYMBOLS)

    def forward(self, x):
        return self.dense(self.norm(self.blocks(self.embedding(x) + self.position)))
