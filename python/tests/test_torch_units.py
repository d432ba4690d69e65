"""The units of any PyTorch module, and the smaller module of some of them."""

import copy
import importlib.util
import math
import unittest

if importlib.util.find_spec("torch") is None:
    raise unittest.SkipTest("PyTorch is not installed")

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import prune

from subfleet._core import RequestError
from subfleet._torch_trace import trace

HAS_TORCHVISION = importlib.util.find_spec("torchvision") is not None


def chosen(traced, seed=0, only_droppable=False):
    """Some units of every group."""
    random = torch.Generator().manual_seed(seed)
    kept = {}
    for group in traced.groups:
        if group.droppable or not only_droppable:
            count = int(torch.randint(2 if group.units > 2 else 1, group.units, (1,), generator=random))
            kept[group.name] = torch.randperm(group.units, generator=random)[:count].sort().values.tolist()
    return kept


def rows_of(parts, kept):
    """The features of an axis that are kept."""
    mask = []
    for part in parts:
        if part.group not in kept:
            units = sum(mask_units(part, group) for group in GROUPS) if part.group is not None else 1
            mask += [True] * (part.outer * units * part.inner)
        else:
            units = next(group.units for group in GROUPS if group.name == part.group)
            mask += [unit in kept[part.group] for unit in range(units) for _ in range(part.inner)] * part.outer
    return torch.tensor(mask)


GROUPS = []


def mask_units(part, group):
    return group.units if group.name == part.group else 0


def masks_of(traced, kept):
    GROUPS[:] = traced.groups
    return {tensor.name: [rows_of(parts, kept) for parts in tensor.axes] for tensor in traced.tensors}


def part_of(tensor, masks):
    for axis, mask in enumerate(masks):
        tensor = tensor.index_select(axis, mask.nonzero().reshape(-1))
    return tensor


class OverKept:
    """A norm of the whole module that looks at the kept channels alone, and gives zero for the others."""

    def __init__(self, module, mask):
        self.module, self.mask = module, mask

    def __call__(self, x):
        m, mask = self.module, self.mask
        out = torch.zeros_like(x)
        if isinstance(m, nn.GroupNorm):
            size = m.num_channels // m.num_groups
            for first in range(0, m.num_channels, size):
                rows = mask[first : first + size].nonzero().reshape(-1) + first
                if len(rows):
                    out[:, rows] = F.group_norm(x[:, rows], 1, m.weight[rows], m.bias[rows], m.eps)
            return out
        out[..., mask] = F.layer_norm(x[..., mask], (int(mask.sum()),), m.weight[mask], m.bias[mask], m.eps)
        return out


def reference(module, traced, kept):
    """The whole module with nothing but zeros where units are dropped."""
    whole = copy.deepcopy(module)
    masks = masks_of(traced, kept)
    state = whole.state_dict(keep_vars=True)
    with torch.no_grad():
        for name, of_axes in masks.items():
            for axis, mask in enumerate(of_axes):
                state[name].index_fill_(axis, (~mask).nonzero().reshape(-1), 0)
    for path, child in whole.named_modules():
        mask = masks.get(f"{path}.weight", [None])[0]
        if isinstance(child, (nn.LayerNorm, nn.GroupNorm)) and mask is not None and not mask.all():
            child.forward = OverKept(child, mask)
    return whole, masks


def first(result):
    return result[0] if isinstance(result, tuple) else result


class Law(unittest.TestCase):
    def law(self, module, example, groups=None, again=None, droppable=None, atol=2e-5):
        """The smaller module computes what the whole one does whose dropped units are zero."""
        torch.manual_seed(1)
        for buffer in [b for n, b in module.named_buffers() if n.endswith(("running_mean", "running_var"))]:
            buffer.uniform_(0.5, 1.5)
        traced = trace(module, example)
        if groups is not None:
            self.assertEqual({group.name: group.units for group in traced.groups}, groups, traced.whole)
        if droppable is not None:
            self.assertEqual([group.name for group in traced.groups if group.droppable], droppable)
        module.eval()
        for seed in range(3):
            kept = chosen(traced, seed)
            small = traced.smaller(kept, rescale=False)
            whole, masks = reference(module, traced, kept)
            state = small.state_dict()
            for tensor in traced.tensors:
                size = tuple(int(mask.sum()) for mask in masks[tensor.name])
                self.assertEqual(tuple(state[tensor.name].shape), size, tensor.name)
            self.assertEqual(list(state), list(module.state_dict()))
            for given in [example, again] if again is not None else [example]:
                made, right = first(small(*given)), first(whole(*given))
                self.assertEqual(made.shape, right.shape)
                self.assertGreater(float(right.abs().max()), 0)
                torch.testing.assert_close(made, right, atol=atol, rtol=1e-4)
            out, right = first(small(*example)), first(whole(*example))
            if out.is_floating_point() and out.requires_grad:
                weights = torch.randn_like(out)
                (out * weights).sum().backward()
                (right * weights).sum().backward()
                ours, theirs = dict(small.named_parameters()), dict(whole.named_parameters())
                for tensor in traced.tensors:
                    if tensor.statistic:
                        continue
                    wanted = theirs[tensor.name].grad
                    if wanted is not None:
                        wanted = part_of(wanted, masks[tensor.name])
                        scale = max(1.0, float(wanted.abs().max()))
                        torch.testing.assert_close(ours[tensor.name].grad, wanted, atol=1e-4 * scale, rtol=1e-3)
        return traced


class Block(nn.Module):
    def __init__(self, inputs, units, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, units, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(units)
        self.conv2 = nn.Conv2d(units, units, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(units)
        self.relu = nn.ReLU(inplace=True)
        self.down = nn.Sequential(nn.Conv2d(inputs, units, 1, stride, bias=False), nn.BatchNorm2d(units)) if stride > 1 else None

    def forward(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        out += x if self.down is None else self.down(x)
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU())
        self.blocks = nn.Sequential(Block(6, 6), Block(6, 10, 2), Block(10, 10))
        self.out = nn.Linear(10, 5)

    def forward(self, x):
        return self.out(torch.flatten(F.adaptive_avg_pool2d(self.blocks(self.stem(x)), 1), 1))


class MobileBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.expand = nn.Conv2d(8, 24, 1)
        self.depth = nn.Conv2d(24, 24, 3, padding=1, groups=24)
        self.bn = nn.BatchNorm2d(24)
        self.squeeze, self.excite = nn.Conv2d(24, 6, 1), nn.Conv2d(6, 24, 1)
        self.project = nn.Conv2d(24, 8, 1)
        self.out = nn.Linear(8, 4)

    def forward(self, x):
        x = F.hardswish(self.stem(x))
        y = F.relu6(self.bn(self.depth(F.silu(self.expand(x)))))
        y = y * torch.sigmoid(self.excite(F.relu(self.squeeze(y.mean((2, 3), keepdim=True)))))
        return self.out((x + self.project(y)).mean([2, 3]))


class Attention(nn.Module):
    """As Hugging Face writes it."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.dense = nn.Linear(width, width)

    def split(self, x):
        return x.view(x.size()[:-1] + (self.heads, self.size)).permute(0, 2, 1, 3)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        probabilities = F.softmax(torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.size), dim=-1)
        context = torch.matmul(probabilities, v).permute(0, 2, 1, 3).contiguous()
        return self.dense(context.view(context.size()[:-2] + (self.heads * self.size,)))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(20, 12), nn.Embedding(9, 12)
        self.register_buffer("ids", torch.arange(9)[None], persistent=False)
        self.norm = nn.LayerNorm(12)
        self.attentions = nn.ModuleList([Attention(12, 3) for _ in range(2)])
        self.norms1 = nn.ModuleList([nn.LayerNorm(12) for _ in range(2)])
        self.norms2 = nn.ModuleList([nn.LayerNorm(12) for _ in range(2)])
        self.up = nn.ModuleList([nn.Linear(12, 16) for _ in range(2)])
        self.down = nn.ModuleList([nn.Linear(16, 12) for _ in range(2)])
        self.decoder = nn.Linear(12, 20)
        self.decoder.weight = self.words.weight

    def forward(self, ids):
        x = self.norm(self.words(ids) + self.places(self.ids[:, : ids.size(1)]))
        for attention, norm1, norm2, up, down in zip(self.attentions, self.norms1, self.norms2, self.up, self.down):
            x = norm1(x + attention(x))
            x = norm2(x + down(F.gelu(up(x))))
        return self.decoder(x)


class NanoGpt(nn.Module):
    def __init__(self, width=12, heads=3):
        super().__init__()
        self.heads = heads
        self.wte, self.wpe = nn.Embedding(17, width), nn.Embedding(8, width)
        self.ln1, self.ln2, self.lnf = (nn.LayerNorm(width) for _ in range(3))
        self.attn, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc, self.out = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.head = nn.Linear(width, 17, bias=False)
        self.head.weight = self.wte.weight
        self.register_buffer("bias", torch.tril(torch.ones(8, 8)).view(1, 1, 8, 8))

    def attend(self, x):
        B, T, C = x.size()
        q, k, v = self.attn(x).split(C, dim=2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = F.softmax(att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf")), dim=-1)
        return self.proj((att @ v).transpose(1, 2).contiguous().view(B, T, C))

    def forward(self, idx):
        b, t = idx.size()
        assert t <= 8
        x = self.wte(idx) + self.wpe(torch.arange(0, t, device=idx.device))
        x = x + self.attend(self.ln1(x))
        x = x + self.out(F.gelu(self.fc(self.ln2(x))))
        return self.head(self.lnf(x))


class Recurrent(nn.Module):
    def __init__(self, kind, **more):
        super().__init__()
        self.words = nn.Embedding(11, 6)
        self.rnn = kind(6, 5, **more)
        ways = 2 if more.get("bidirectional") else 1
        self.out = nn.Linear((more.get("proj_size") or 5) * ways, 3)
        self.first = more.get("batch_first", False)

    def forward(self, ids):
        made, _ = self.rnn(self.words(ids if self.first else ids.t()))
        return self.out(made[:, -1] if self.first else made[-1])


class LastState(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = 6
        self.rnn = nn.GRU(4, 6, num_layers=2, batch_first=True)
        self.out = nn.Linear(6, 3)

    def forward(self, x):
        start = torch.zeros(2, x.size(0), self.hidden, device=x.device)
        return self.out(self.rnn(x, start)[1][-1])


def images(batch=2, channels=3, side=8):
    return (torch.randn(batch, channels, side, side),)


def words(batch=2, steps=6, symbols=11):
    return (torch.randint(0, symbols, (batch, steps)),)


class Networks(Law):
    def test_a_residual_network(self):
        self.law(ResNet(), images(), {"stem.0": 6, "blocks.0.conv1": 6, "blocks.1.conv1": 10, "blocks.1.conv2": 10,
                                      "blocks.2.conv1": 10}, images(5), ["blocks.0.conv1", "blocks.1.conv1", "blocks.2.conv1"])

    def test_a_gated_depthwise_block(self):
        self.law(MobileBlock(), images(), {"stem": 8, "expand": 24, "squeeze": 6}, images(3), ["expand", "squeeze"])

    def test_an_encoder_with_tied_words(self):
        traced = self.law(Encoder(), words(symbols=20), {
            "words": 12, "attentions.0.query": 3, "up.0": 16, "attentions.1.query": 3, "up.1": 16}, words(4, 5, 20))
        small = traced.smaller({"words": [0, 3, 7]}, rescale=False)
        self.assertIs(small.decoder.weight, small.words.weight)
        self.assertEqual([t.name for t in traced.tensors if "decoder" in t.name], ["decoder.bias"])

    def test_nano_gpt(self):
        self.law(NanoGpt(), words(symbols=17), {"wte": 12, "attn": 3, "fc": 24}, words(5, 8, 17), ["attn", "fc"])

    def test_recurrent_classifiers(self):
        for kind in (nn.LSTM, nn.GRU, nn.RNN):
            for more in ({}, {"batch_first": True}, {"num_layers": 2}, {"bidirectional": True, "num_layers": 2},
                         {"bias": False, "batch_first": True}):
                with self.subTest(kind=kind.__name__, **more):
                    self.law(Recurrent(kind, **more), words(), {"words": 6, "rnn": 5}, words(3, 4))
        self.law(Recurrent(nn.LSTM, proj_size=3, num_layers=2), words(), {"words": 6, "rnn": 3})

    def test_a_last_state_from_zeros(self):
        self.law(LastState(), (torch.randn(2, 5, 4),), {"rnn": 6}, (torch.randn(3, 7, 4),))

    @unittest.skipUnless(HAS_TORCHVISION, "torchvision is not installed")
    def test_torchvision_keeps_the_law(self):
        from torchvision import models

        for name, example, more in (("resnet18", images(2, 3, 48), {}), ("mobilenet_v2", images(2, 3, 48), {}),
                                    ("vit_b_16", images(2, 3, 32), {"image_size": 32, "num_classes": 7})):
            with self.subTest(name):
                module = getattr(models, name)(weights=None, **more)
                for block in list(getattr(getattr(module, "encoder", None), "layers", []))[2:]:
                    del module.encoder.layers[-1]
                if name == "vit_b_16":
                    nn.init.normal_(module.heads.head.weight)
                self.law(module, example, again=images(3, *example[0].shape[1:3]), atol=1e-3)

    @unittest.skipUnless(HAS_TORCHVISION, "torchvision is not installed")
    def test_torchvision_is_followed(self):
        from torchvision import models

        for name in ("resnext50_32x4d", "densenet121", "efficientnet_b0", "convnext_tiny", "swin_t", "shufflenet_v2_x1_0",
                     "mobilenet_v3_small", "vgg11_bn", "googlenet"):
            with self.subTest(name):
                module = getattr(models, name)(weights=None)
                example = images(2, 3, 64)
                traced = trace(module, example)
                kept = chosen(traced)
                small = traced.smaller(kept, rescale=True).eval()
                self.assertEqual(small(*images(3, 3, 64)).shape, (3, 1000))
                self.assertLess(sum(p.numel() for p in small.parameters()), 0.9 * sum(p.numel() for p in module.parameters()))


if __name__ == "__main__":
    unittest.main()
