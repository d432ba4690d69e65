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
from torch.nn.utils import prune, rnn
from torch.nn.utils.rnn import pack_padded_sequence

from subfleet._core import RequestError
from subfleet.torch._follow import copied
from subfleet.torch._trace import trace

Linear, Conv2d = nn.Linear, nn.Conv2d
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


def rows_of(parts, kept, units):
    """The features of an axis that are kept."""
    mask = []
    for part in parts:
        count = 1 if part.group is None else units[part.group]
        of_units = [unit in kept.get(part.group, range(count)) for unit in range(count)]
        mask += [is_kept for is_kept in of_units for _ in range(part.inner)] * part.outer
    return torch.tensor(mask)


def masks_of(traced, kept):
    units = {group.name: group.units for group in traced.groups}
    return {tensor.name: [rows_of(parts, kept, units) for parts in tensor.axes] for tensor in traced.tensors}


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
    whole = copied(module)
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
        self.conv1 = Conv2d(inputs, units, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(units)
        self.conv2 = Conv2d(units, units, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(units)
        self.relu = nn.ReLU(inplace=True)
        self.down = nn.Sequential(Conv2d(inputs, units, 1, stride, bias=False),
                                  nn.BatchNorm2d(units)) if stride > 1 else None

    def forward(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        out += x if self.down is None else self.down(x)
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU())
        self.blocks = nn.Sequential(Block(6, 6), Block(6, 10, 2), Block(10, 10))
        self.out = Linear(10, 5)

    def forward(self, x):
        return self.out(torch.flatten(F.adaptive_avg_pool2d(self.blocks(self.stem(x)), 1), 1))


class MobileBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = Conv2d(3, 8, 3, padding=1)
        self.expand = Conv2d(8, 24, 1)
        self.depth = Conv2d(24, 24, 3, padding=1, groups=24)
        self.bn = nn.BatchNorm2d(24)
        self.squeeze, self.excite = Conv2d(24, 6, 1), Conv2d(6, 24, 1)
        self.project = Conv2d(24, 8, 1)
        self.out = Linear(8, 4)

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
        self.query, self.key, self.value = (Linear(width, width) for _ in range(3))
        self.dense = Linear(width, width)

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
        self.up = nn.ModuleList([Linear(12, 16) for _ in range(2)])
        self.down = nn.ModuleList([Linear(16, 12) for _ in range(2)])
        self.decoder = Linear(12, 20)
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
        self.attn, self.proj = Linear(width, 3 * width), Linear(width, width)
        self.fc, self.out = Linear(width, 2 * width), Linear(2 * width, width)
        self.head = Linear(width, 17, bias=False)
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
        self.out = Linear((more.get("proj_size") or 5) * ways, 3)
        self.first = more.get("batch_first", False)

    def forward(self, ids):
        made, _ = self.rnn(self.words(ids if self.first else ids.t()))
        return self.out(made[:, -1] if self.first else made[-1])


class LastState(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = 6
        self.rnn = nn.GRU(4, 6, num_layers=2, batch_first=True)
        self.out = Linear(6, 3)

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
                                      "blocks.2.conv1": 10}, images(5), ["blocks.0.conv1", "blocks.1.conv1",
                                                                         "blocks.2.conv1"])

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
                self.assertLess(sum(p.numel() for p in small.parameters()),
                                0.9 * sum(p.numel() for p in module.parameters()))


class Calls(nn.Module):
    """Layers by name, and a function of them and the inputs."""

    def __init__(self, call, **layers):
        super().__init__()
        self.call = call
        for name, layer in layers.items():
            if isinstance(layer, nn.Parameter) or not isinstance(layer, torch.Tensor):
                setattr(self, name, layer)
            else:
                self.register_buffer(name, layer)

    def forward(self, *inputs):
        return self.call(self, *inputs)


def weight(*shape):
    return nn.Parameter(torch.randn(*shape))


def rows(features=5, batch=2):
    return (torch.randn(batch, features),)


def steps(features=6, batch=2, length=4):
    return (torch.randn(batch, length, features),)


def between(call, units=8, inputs=6, outputs=3, into=None, **more):
    """A call between a layer of units and one that reads what it makes."""
    return Calls(lambda m, x: m.b(call(m, m.a(x))), a=Linear(inputs, units), b=Linear(into or units, outputs), **more)


def pixels(call, units=6, into=None, **more):
    return Calls(lambda m, x: m.b(call(m, m.a(x))), a=Conv2d(3, units, 3, padding=1), b=Conv2d(into or units, 2, 1),
                 **more)


def attend(m, x, size, q, k, v):
    heads = [t.unflatten(-1, (-1, size)).transpose(-3, -2) for t in (q, k, v)]
    return (torch.softmax(heads[0] @ heads[1].mT / size**0.5, -1) @ heads[2]).transpose(-3, -2).flatten(-2)


def joint(m, x):
    B, N, C = x.shape
    q, k, v = m.qkv(x).reshape(B, N, 3, m.heads, m.size).permute(2, 0, 3, 1, 4)
    y = (q @ k.transpose(-2, -1)).softmax(dim=-1) @ v
    return m.out(y.transpose(1, 2).reshape(B, N, m.heads * m.size))


def merged(m, x):
    """Heads beside the batch."""
    T, B, C = x.size()
    q, k, v = (f(x).contiguous().view(T, B * 3, 2).transpose(0, 1) for f in (m.q, m.k, m.v))
    y = torch.bmm(F.softmax(torch.bmm(q, k.transpose(1, 2)), -1), v)
    return m.out(y.transpose(0, 1).contiguous().view(T, B, 6))


def shared(m, x):
    """Three heads of queries to each of keys."""
    B, T, _ = x.shape
    q = m.q(x).view(B, T, 6, 2).transpose(1, 2)
    k, v = (f(x).view(B, T, 2, 2).transpose(1, 2) for f in (m.k, m.v))
    k = k[:, :, None].expand(B, 2, 3, T, 2).reshape(B, 6, T, 2)
    v = v.repeat_interleave(3, dim=1)
    return m.out(torch.softmax(q @ k.transpose(2, 3), 3).matmul(v).transpose(1, 2).reshape(B, T, 12))


def rotated(m, x):
    B, T, _ = x.shape
    q, k, v = (f(x).view(B, T, 3, 4).transpose(1, 2) for f in (m.q, m.k, m.v))

    def turn(t):
        return t * m.cos[:T] + torch.cat((-t[..., 2:], t[..., :2]), dim=-1) * m.sin[:T]

    q, k = turn(F.layer_norm(q, (4,), m.scale)), turn(F.layer_norm(k, (4,), m.scale))
    return m.out(F.softmax(q @ k.transpose(-1, -2), -1).matmul(v).transpose(1, 2).flatten(2))


def qkv(width=6, heads=3, size=2, **more):
    return {name: Linear(width, heads * size) for name in "qkv"} | {"out": Linear(heads * size, width), **more}


class SwiGlu(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up, self.down = Linear(6, 10), Linear(6, 10), Linear(10, 6)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Lora(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = Linear(6, 8)
        self.base.requires_grad_(False)
        self.a, self.b = weight(2, 6), weight(8, 2)
        self.out = Linear(8, 3)

    def forward(self, x):
        return self.out(F.relu(self.base(x) + F.linear(F.linear(x, self.a), self.b) * 0.5))


class Tabular(nn.Module):
    def __init__(self):
        super().__init__()
        self.kinds, self.numbers = nn.Embedding(7, 5), Linear(4, 6)
        self.hidden, self.out = Linear(16, 9), Linear(9, 2)

    def forward(self, kinds, numbers):
        x = torch.cat([self.kinds(kinds).flatten(1), F.relu(self.numbers(numbers))], dim=1)
        return self.out(F.gelu(self.hidden(x)))


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(Conv2d(3, 6, 3, 2, 1), nn.ReLU(), Conv2d(6, 8, 3, 2, 1), nn.Flatten(), Linear(32, 5))
        self.up = nn.Sequential(
            Linear(5, 32), nn.Unflatten(1, (8, 2, 2)), nn.ConvTranspose2d(8, 6, 2, 2), nn.ELU(),
            nn.ConvTranspose2d(6, 6, 2, 2, groups=6), nn.ConvTranspose2d(6, 3, 1))

    def forward(self, x):
        return self.up(self.down(x))


IN = {"a": 8}  # the one group of `between`
CALLS = {
    # activations and other things that are done to each feature
    "functions": (between(lambda m, x: torch.tanh(F.gelu(x).relu() * 2 + 1) - x.abs().clamp(max=0.5)), steps(), IN),
    "operators": (between(lambda m, x: (-x) ** 2 / 3 + (x > 0).float() * x), rows(6), IN),
    "where": (between(lambda m, x: torch.where(x > 0, x, x * 0.1).masked_fill(x > 1, 1.0)), rows(6), IN),
    "dropout": (between(lambda m, x: F.dropout(m.d(x), 0.5, m.training), d=nn.Dropout(0.3)), rows(6), IN),
    "prelu": (between(lambda m, x: F.prelu(m.p(x), m.w), p=nn.PReLU(8), w=weight(8)), rows(6), IN),
    "own scale": (between(lambda m, x: x * m.s + m.t, s=weight(8), t=weight(1, 8)), steps(), IN),
    "own buffer": (between(lambda m, x: x * m.s, s=torch.rand(8) + 1), steps(), IN),
    "in place": (between(lambda m, x: F.relu(x.mul_(2), inplace=True)), rows(6), IN),
    # norms
    "batch norm": (between(lambda m, x: m.n(x), n=nn.BatchNorm1d(8)), rows(6), IN),
    "batch norm, function": (between(lambda m, x: F.batch_norm(x, m.running_mean, m.running_var, m.w, m.c), w=weight(8),
                                     c=weight(8),
                                     running_mean=torch.rand(8), running_var=torch.rand(8) + 0.5), rows(6), IN),
    "layer norm": (between(lambda m, x: m.n(x), n=nn.LayerNorm(8)), steps(), IN),
    "group norm": (pixels(lambda m, x: m.n(x), n=nn.GroupNorm(3, 6)), images(), {"a": 6}),
    "instance norm": (pixels(lambda m, x: m.n(x), n=nn.InstanceNorm2d(6, affine=True)), images(), {"a": 6}),
    # convolutions
    "conv1d": (Calls(lambda m, x: m.b(F.max_pool1d(m.a(x), 2)).mean(2), a=nn.Conv1d(5, 8, 3), b=nn.Conv1d(8, 4, 2)),
               (torch.randn(2, 5, 9),), {"a": 8}),
    "conv3d": (Calls(lambda m, x: m.b(m.p(m.a(x))), a=nn.Conv3d(2, 4, 2), b=nn.Conv3d(4, 2, 1), p=nn.AvgPool3d(2)),
               (torch.randn(2, 2, 5, 5, 5),), {"a": 4}),
    "depthwise multiplier": (pixels(lambda m, x: m.g(x), into=12, g=Conv2d(6, 12, 3, groups=6)), images(), {"a": 6}),
    "blocks": (pixels(lambda m, x: m.g(x), into=9, g=Conv2d(6, 9, 3, groups=3)), images(), {"a": 3}),
    "function with groups": (pixels(lambda m, x: F.conv2d(x, m.w, m.c, groups=6), into=12, w=weight(12, 1, 3, 3),
                                    c=weight(12)),
                             images(), {"a": 6}),
    "turned": (pixels(lambda m, x: F.relu(m.t(x)), into=4, t=nn.ConvTranspose2d(6, 4, 2, 2)), images(), {"a": 6, "t": 4}),
    "turned blocks": (pixels(lambda m, x: m.t(x), into=9, t=nn.ConvTranspose2d(6, 9, 2, 2, groups=3)), images(), {"a": 3}),
    "pixel shuffle": (pixels(lambda m, x: F.pixel_shuffle(x, 2), units=12, into=3), images(), {"a": 3}),
    "pools": (pixels(lambda m, x: F.interpolate(F.avg_pool2d(m.p(x), 2), scale_factor=2), p=nn.MaxPool2d(2)), images(),
              {"a": 6}),
    "flattened": (Calls(lambda m, x: m.b(m.a(x).view(x.size(0), -1)), a=Conv2d(3, 6, 3), b=Linear(6 * 36, 3)), images(),
                  {"a": 6}),
    "padded": (pixels(lambda m, x: m.p(F.pad(x, (1, 1, 0, 2))), p=nn.ReflectionPad2d(1)), images(), {"a": 6}),
    "padded channels": (Calls(lambda m, x: m.c(F.pad(m.a(x), (0, 0, 0, 0, 2, 2)) + m.b(x)), a=Conv2d(3, 6, 1),
                              b=Conv2d(3, 10, 1), c=Conv2d(10, 2, 1)), images(), {"a": 6}),
    # shapes
    "cat": (Calls(lambda m, x: m.c(torch.cat([m.a(x), x, m.b(x)], -1)), a=Linear(6, 4), b=Linear(6, 5), c=Linear(15, 2)),
            steps(), {"a": 4, "b": 5}),
    "chunk and multiply": (between(lambda m, x: x.chunk(2, -1)[0] * torch.sigmoid(x.chunk(2, -1)[1]), into=4), steps(),
                           {"a": 4}),
    "glu": (between(lambda m, x: F.glu(x) + m.g(x), into=4, g=nn.GLU()), steps(), {"a": 4}),
    "split apart": (between(lambda m, x: torch.cat([F.relu(p) for p in x.split([2, 6], 1)][::-1], 1)), rows(6),
                    {"a": 2, "a:2": 6}),
    "slices": (between(lambda m, x: x[:, : x.shape[1] // 2] * x[:, x.shape[1] // 2 :], into=4), rows(6), {"a": 4}),
    "narrow": (between(lambda m, x: x.narrow(1, 0, 4) * torch.narrow(x, 1, 4, 4), into=4), rows(6), {"a": 4}),
    "stack": (between(lambda m, x: torch.stack([x, x * 2], 0).mean(0)), rows(6), IN),
    "transposed": (between(lambda m, x: x.transpose(1, 2).permute(0, 2, 1).movedim(1, 0).transpose(0, 1)), steps(), IN),
    "squeezed": (between(lambda m, x: x.unsqueeze(1)[:, None].squeeze(1).squeeze()), rows(6), IN),
    "repeated": (between(lambda m, x: x.repeat(1, 2) + 0, into=16), rows(6), IN),
    "view": (between(lambda m, x: x.view(-1, 8).view(x.size(0), x.size(1), 8)), steps(), IN),
    "reshape as": (between(lambda m, x: x.flatten().reshape_as(x)), steps(), IN),
    "steps": (between(lambda m, x: x[:, 0] + x.select(1, 2) + x[:, -1:].squeeze(1) + x.unbind(1)[1]), steps(), IN),
    "reductions": (between(lambda m, x: x.mean(1) + x.max(1)[0] + x.sum(dim=1, keepdim=True).squeeze(1) + torch.amax(x,
                                                                                                                     1)),
                   steps(), IN),
    "along steps": (between(lambda m, x: x.softmax(1).cumsum(1) + F.normalize(x, dim=1).flip(1)), steps(), IN),
    "expanded": (between(lambda m, x: x + m.s.expand(x.size(0), -1), s=weight(1, 8)), rows(6), IN),
    # products with weights of one's own
    "matmul": (Calls(lambda m, x: torch.matmul(x @ m.a, m.b) + m.c, a=weight(6, 8), b=weight(8, 3), c=weight(3)), steps(),
               {"a": 8}),
    "addmm": (Calls(lambda m, x: m.b(torch.addmm(m.c, x, m.a)), a=weight(6, 8), c=weight(8), b=Linear(8, 2)), rows(6),
              {"a": 8}),
    "einsum": (Calls(lambda m, x: torch.einsum("...h,ho->...o", torch.einsum("bti,hi->bth", x, m.a), m.b), a=weight(8, 6),
                     b=weight(8, 3)), steps(), {"a": 8}),
    "einsum of heads": (Calls(lambda m, x: torch.einsum("bthd,hdo->bto", torch.einsum("bti,ihd->bthd", x, m.a), m.b),
                              a=weight(6, 4, 2), b=weight(4, 2, 3)), steps(), {"a": 4, "a:2": 2}),
    "functions of weights": (Calls(lambda m, x: F.linear(F.gelu(F.linear(x, m.a, m.c)), m.b * 2), a=weight(8, 6),
                                   b=weight(3, 8), c=weight(8)), rows(6), {"a": 8}),
    "bilinear": (Calls(lambda m, x: m.c(m.d(m.a(x), m.b(x))), a=Linear(6, 4), b=Linear(6, 5), d=nn.Bilinear(4, 5, 7),
                       c=Linear(7, 2)), rows(6), {"a": 4, "b": 5, "d": 7}),
    "called twice": (Calls(lambda m, x: m.c(m.b(F.relu(m.b(m.a(x))))), a=Linear(6, 4), b=Linear(4, 4), c=Linear(4, 2)),
                     rows(6), {"a": 4}),
    "embedding bag": (Calls(lambda m, x: m.b(m.a(x)), a=nn.EmbeddingBag(11, 8), b=Linear(8, 3)), words(), {"a": 8}),
    "cells": (Calls(lambda m, x: m.b(m.g(m.r(x, m.l(x)[0]))), l=nn.LSTMCell(6, 5), r=nn.RNNCell(6, 5), g=nn.GRUCell(5, 4),
                    b=Linear(4, 2)), rows(6), {"l": 5, "g": 4}),
    "packed": (Calls(lambda m, x, n: m.b(rnn.pad_packed_sequence(m.r(pack_padded_sequence(
        m.a(x), n, batch_first=True, enforce_sorted=False))[0], batch_first=True)[0].sum(1)),
        a=Linear(6, 4), r=nn.LSTM(4, 5, bidirectional=True), b=Linear(10, 3)),
        (torch.randn(2, 4, 6), torch.tensor([2, 4])), {"a": 4, "r": 5}),
    "len": (Calls(lambda m, x: m.b(m.a(x).reshape(len(x), 16)), a=Linear(6, 4), b=Linear(16, 3)), steps(), {"a": 4}),
    # attention
    "joint projection": (Calls(joint, qkv=Linear(6, 18), out=Linear(6, 6), heads=3, size=2), steps(), {"qkv": 3}),
    "heads beside the batch": (Calls(merged, **qkv()), steps(), {"q": 3}),
    "shared keys": (Calls(shared, q=Linear(6, 12), k=Linear(6, 4), v=Linear(6, 4), out=Linear(12, 6)), steps(), {"q": 2}),
    "rotated": (Calls(rotated, **qkv(6, 3, 4), cos=torch.rand(9, 4), sin=torch.rand(9, 4), scale=weight(4)), steps(),
                {"q": 3}),
    "unflattened": (Calls(lambda m, x: m.out(attend(m, x, 2, m.q(x), m.k(x), m.v(x))), **qkv()), steps(), {"q": 3}),
    "swiglu": (Calls(lambda m, x: m.n(x + m.s(m.l(x))), l=Linear(6, 6), s=SwiGlu(), n=Linear(6, 2)), steps(),
               {"l": 6, "s.gate": 10}),
    "lora": (Lora(), rows(6), None),
    "two inputs": (Tabular(), (torch.randint(0, 7, (2, 2)), torch.randn(2, 4)), {"kinds": 5, "numbers": 6, "hidden": 9}),
    "autoencoder": (Autoencoder(), images(), {"down.0": 6, "down.2": 8, "down.4": 5, "up.0": 8, "up.2": 6}),
}


class TheLaw(Law):
    def test_of_every_call(self):
        for name, (module, example, groups) in CALLS.items():
            with self.subTest(name):
                again = tuple(torch.cat([one, one.flip(0), one]) for one in example) if name not in ("squeezed",) else None
                self.law(module, example, groups, again)


def attention(*names, mask=None, padding=None, **more):
    """Attention of three inputs of 6 features, made by a layer each; `more`: of nn.MultiheadAttention."""

    def call(m, x):
        options = {"need_weights": False}
        if mask is not None:
            options["attn_mask"] = m.mask
        if padding is not None:
            options["key_padding_mask"] = m.padding[: x.shape[0]]
        return m.out(m.attend(m.q(x), m.k(x), m.v(x), **options)[0])

    buffers = {name: tensor for name, tensor in (("mask", mask), ("padding", padding)) if tensor is not None}
    return Calls(call, q=Linear(6, 12), k=Linear(6, more.get("kdim", 12)), v=Linear(6, more.get("vdim", 12)),
                 attend=nn.MultiheadAttention(12, 3, batch_first=True, **more), out=Linear(12, 6), **buffers)


def later(steps=4):
    return torch.ones(steps, steps).triu(1)


LAST = torch.tensor([[False, False, False, True], [False] * 4] * 3)


class Attentions(Law):
    def test_layers(self):
        own = {"q": 12, "attend": 3, "attend.out_proj": 12}
        for name, module, groups in (
            ("plain", attention(), own),
            ("no bias", attention(bias=False), own),
            ("other sizes", attention(kdim=5, vdim=7), {"q": 12, "k": 5, "v": 7, "attend": 3, "attend.out_proj": 12}),
            ("bool mask", attention(mask=later() > 0), own),
            ("float mask", attention(mask=-later() * 3), own),
            ("padding", attention(padding=LAST), own),
            ("both", attention(mask=later() > 0, padding=LAST), own),
            ("bias_k", attention(add_bias_kv=True), {}),
        ):
            with self.subTest(name):
                self.law(module, steps(), groups, steps(batch=5))

    def test_masks_of_each_head(self):
        mask = torch.randn(6, 4, 4)
        module = Calls(lambda m, x, mask: m.out(m.attend(x, x, x, attn_mask=mask)[0]),
                       attend=nn.MultiheadAttention(6, 3), out=Linear(6, 6))
        self.law(module, (torch.randn(4, 2, 6), mask), {"attend": 3, "attend.out_proj": 6})

    def test_weights_that_are_used(self):
        module = Calls(lambda m, x: m.attend(x, x, x), attend=nn.MultiheadAttention(6, 3))
        traced = trace(module, steps())
        self.assertEqual(traced.groups, [])
        self.assertIn("averaged over the heads", traced.whole["attend"])

    def test_scaled_dot_products(self):
        if not hasattr(F, "scaled_dot_product_attention"):
            self.skipTest("this PyTorch has no scaled_dot_product_attention")

        def call(m, x):
            q, k, v = (f(x).view(*x.shape[:2], 3, 4).transpose(1, 2) for f in (m.q, m.k, m.v))
            return m.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))

        self.law(Calls(call, **qkv(6, 3, 4)), steps(), {"q": 3}, steps(batch=5))

    def test_transformers(self):
        for first in (False, True):
            for activation in ("relu", "gelu"):
                layer = nn.TransformerEncoderLayer(12, 3, 8, activation=activation, batch_first=True, norm_first=first)
                module = nn.Sequential(Linear(6, 12), nn.TransformerEncoder(layer, 2, nn.LayerNorm(12)), Linear(12, 2))
                with self.subTest(norm_first=first, activation=activation):
                    self.law(module, steps(), {"0": 12, "1.layers.0.self_attn": 3, "1.layers.0.linear1": 8,
                                               "1.layers.1.self_attn": 3, "1.layers.1.linear1": 8}, steps(batch=5))
        both = Calls(lambda m, x, y: m.out(m.t(m.a(x), m.a(y), tgt_mask=m.mask)), a=Linear(6, 12), out=Linear(12, 2),
                     t=nn.Transformer(12, 2, 1, 1, 8, batch_first=True), mask=later() > 0)
        self.law(both, steps() + steps(), {"a": 12, "t.encoder.layers.0.self_attn": 2, "t.encoder.layers.0.linear1": 8,
                                           "t.decoder.layers.0.self_attn": 2, "t.decoder.layers.0.multihead_attn": 2,
                                           "t.decoder.layers.0.linear1": 8})

    def test_padding_in_a_transformer(self):
        layer = nn.TransformerEncoderLayer(12, 2, 8, batch_first=True)
        module = Calls(lambda m, x, padding: m.out(m.t(x, src_key_padding_mask=padding)[:, 0]),
                       t=nn.TransformerEncoder(layer, 1), out=Linear(12, 2))
        example = (*steps(12), LAST[:2])
        traced = self.law(module, example, {"t.layers.0.self_attn": 2, "t.layers.0.linear1": 8})
        small = traced.smaller({"t.layers.0.linear1": [1, 2]}, rescale=True).eval()
        with torch.no_grad():
            quick = small(*example)
        torch.testing.assert_close(quick, small(*example))


class DropPath(nn.Module):
    def forward(self, x):
        if not self.training:
            return x
        return x * torch.rand(x.shape[0], 1, device=x.device).round()


class Modes(nn.Module):
    """Whose ways differ between training and evaluation."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.path = Linear(6, 8), Linear(8, 3), DropPath()

    def forward(self, x):
        y = F.dropout(self.a(x).view(x.size(0), 2, 4).flatten(1), 0.9, self.training)
        return self.b(self.path(y.view(-1, 8)))


class Smaller(Law):
    def test_rescaling_by_hand(self):
        module = nn.Sequential(Linear(6, 8), nn.ReLU(), Linear(8, 5), nn.ReLU(), Linear(5, 3))
        kept = {"0": [1, 3, 4], "2": [0, 4]}
        small = trace(module, rows(6)).smaller(kept, rescale=True)
        x = torch.randn(4, 6)
        a, b, c = module[0], module[2], module[4]
        h = F.linear(x, a.weight[kept["0"]], a.bias[kept["0"]]).relu() * torch.tensor(8 / 3)
        h = F.linear(h, b.weight[kept["2"]][:, kept["0"]], b.bias[kept["2"]]).relu() * torch.tensor(5 / 2)
        torch.testing.assert_close(small(x), F.linear(h, c.weight[:, kept["2"]], c.bias))
        self.assertIs(type(small), nn.Sequential)

    def test_rescaling_of_weights_of_ones_own_and_of_parts(self):
        module, example, _ = CALLS["cat"]
        small = trace(module, example).smaller({"a": [0, 2]}, rescale=True)
        x = torch.randn(2, 4, 6)
        h = torch.cat([module.a(x)[..., [0, 2]] * 2, x, module.b(x)], -1)
        keep = [0, 2, *range(4, 15)]
        torch.testing.assert_close(small(x), F.linear(h, module.c.weight[:, keep], module.c.bias))
        module, example, _ = CALLS["matmul"]
        small = trace(module, example).smaller({"a": [1, 2]}, rescale=True)
        torch.testing.assert_close(small(x), x @ module.a[:, [1, 2]] * 4 @ module.b[[1, 2]] + module.c)

    def test_rescaling_of_recurrences_and_heads(self):
        module = Recurrent(nn.GRU, num_layers=2, batch_first=True)
        small = trace(module, words()).smaller({"rnn": [0, 3]}, rescale=True)
        lower, upper = nn.GRU(6, 2, batch_first=True), nn.GRU(2, 2, batch_first=True)
        state = small.rnn.state_dict()
        lower.load_state_dict({name: state[name] for name in state if name.endswith("l0")})
        upper.load_state_dict({name.replace("l1", "l0"): state[name] for name in state if name.endswith("l1")})
        x = torch.randint(0, 11, (3, 5))
        h = upper(lower(module.words(x))[0] * 2.5)[0][:, -1] * 2.5
        torch.testing.assert_close(small(x), F.linear(h, small.out.weight, small.out.bias))
        self.assertEqual(small.out.in_features, 2)

        module = Calls(lambda m, x: m.attend(x, x, x)[0], attend=nn.MultiheadAttention(6, 3))
        x = torch.randn(4, 2, 6)
        traced = trace(module, (x,))
        plain, scaled = (traced.smaller({"attend": [0, 2]}, rescale) for rescale in (False, True))
        bias = module.attend.out_proj.bias
        torch.testing.assert_close(scaled(x) - bias, (plain(x) - bias) * 1.5)

    def test_a_part_of_every_group_trains(self):
        module = NanoGpt()
        traced = trace(module, words(symbols=17))
        small = traced.smaller(chosen(traced, only_droppable=True), rescale=True).train()
        before = {name: tensor.clone() for name, tensor in small.state_dict().items()}
        small(*words(symbols=17)).square().mean().backward()
        torch.optim.SGD(small.parameters(), lr=0.1).step()
        for tensor in traced.tensors:
            self.assertFalse(torch.equal(before[tensor.name], small.state_dict()[tensor.name]), tensor.name)

    def test_modes_are_followed_both(self):
        module = Modes()
        traced = self.law(module, rows(6), None)
        self.assertEqual(len(traced.groups), 1)
        small = traced.smaller(chosen(traced), rescale=False)
        x = torch.randn(64, 6)
        torch.testing.assert_close(small.eval()(x), small.eval()(x))
        self.assertFalse(torch.equal(small.train()(x), small.train()(x)))
        again = copy.deepcopy(small).eval()
        torch.testing.assert_close(again(x), small.eval()(x))

    def test_frozen_parameters_stay_at_home(self):
        module = Lora()
        traced = trace(module, rows(6))
        self.assertEqual([t.name for t in traced.tensors], ["a", "b", "out.weight", "out.bias"])
        group = next(g for g in traced.groups if g.units == 8)
        small = traced.smaller({group.name: [1, 2, 5]}, rescale=False)
        self.assertEqual(small.base.weight.shape, (3, 6))
        self.assertFalse(small.base.weight.requires_grad)
        self.assertTrue(small.b.requires_grad)

    def test_types_and_modes_stay(self):
        module = ResNet().double()
        module.blocks[1].bn1.eval()
        traced = trace(module, (torch.randn(2, 3, 8, 8).double(),))
        small = traced.smaller(chosen(traced), rescale=True)
        self.assertEqual({p.dtype for p in small.parameters()}, {torch.float64})
        self.assertEqual([m.training for m in small.modules()], [m.training for m in module.modules()])
        self.assertEqual(small.blocks[1].bn1.num_features, small.blocks[1].conv1.out_channels)

    def test_a_trace_leaves_no_trace(self):
        module = ResNet()
        module.blocks[0].eval()
        before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
        modes = [m.training for m in module.modules()]
        x = images()
        given = x[0].clone()
        attributes = [set(vars(m)) for m in module.modules()]
        state = torch.random.get_rng_state()
        traced = trace(module, x)
        traced.smaller(chosen(traced), rescale=True)(*x)
        for name, tensor in module.state_dict().items():
            self.assertTrue(torch.equal(tensor, before[name]), name)
        self.assertEqual([m.training for m in module.modules()], modes)
        self.assertEqual([set(vars(m)) for m in module.modules()], attributes)
        self.assertTrue(all(p.grad is None for p in module.parameters()))
        self.assertTrue(torch.equal(x[0], given))
        self.assertTrue(torch.equal(torch.random.get_rng_state(), state))
        self.assertTrue(all(not m._forward_pre_hooks for m in module.modules()))

    def test_a_trace_leaves_its_example_and_the_random_numbers(self):
        module = Calls(lambda m, x: m.a(F.dropout(x.relu_(), 0.5, m.training)), a=Linear(6, 3))
        x = torch.randn(2, 6)
        given, state = x.clone(), torch.random.get_rng_state()
        trace(module, (x,))
        self.assertTrue(torch.equal(x, given))
        self.assertTrue(torch.equal(torch.random.get_rng_state(), state))

    def test_a_norm_without_weights_in_two_places(self):
        module = Calls(lambda m, x: m.c(m.n(m.b(m.n(m.a(x).relu())).tanh())), a=Linear(6, 8), b=Linear(8, 8),
                       c=Linear(8, 2),
                       n=nn.LayerNorm(8, elementwise_affine=False))
        traced = trace(module, rows(6))
        self.assertEqual([group.units for group in traced.groups], [8])
        small = traced.smaller({"a": [0, 2, 3]}, rescale=False)
        self.assertEqual(small(*rows(6)).shape, (2, 2))

    def test_halves_that_change_places(self):
        self.law(between(lambda m, x: torch.cat([x[:, 5:], x[:, :5]], 1)), rows(6), {"a": 5, "a:2": 3})

    def test_parts_of_axes(self):
        traced = trace(Recurrent(nn.LSTM, bidirectional=True), words())
        axes = {tensor.name: [[(p.group, p.outer, p.inner) for p in parts] for parts in tensor.axes]
                for tensor in traced.tensors}
        self.assertEqual(axes["rnn.weight_ih_l0"], [[("rnn", 4, 1)], [("words", 1, 1)]])
        self.assertEqual(axes["out.weight"], [[(None, 1, 3)], [("rnn", 2, 1)]])
        self.assertEqual(axes["words.weight"], [[(None, 1, 11)], [("words", 1, 1)]])
        traced = trace(*CALLS["joint projection"][:2])
        parts = {tensor.name: tensor.axes for tensor in traced.tensors}
        self.assertEqual([(p.group, p.outer, p.inner) for p in parts["qkv.weight"][0]], [("qkv", 3, 2)])
        traced = trace(*CALLS["flattened"][:2])
        parts = {tensor.name: tensor.axes for tensor in traced.tensors}
        self.assertEqual([(p.group, p.outer, p.inner) for p in parts["b.weight"][1]], [("a", 1, 36)])

    def test_statistics_travel(self):
        traced = trace(ResNet(), images())
        kinds = {tensor.name: tensor.statistic for tensor in traced.tensors}
        self.assertTrue(kinds["stem.1.running_mean"] and kinds["stem.1.running_var"])
        self.assertFalse(kinds["stem.1.weight"])
        self.assertNotIn("stem.1.num_batches_tracked", kinds)
        names = [name for name in ResNet().state_dict() if name in kinds]
        self.assertEqual(list(kinds), sorted(names, key=kinds.get), "in the module's order, statistics last")


class Whole(Law):
    """What keeps all of its units, and why."""

    def test_hooks_are_kept(self):
        seen = []
        module = nn.Sequential(Linear(6, 8), nn.ReLU(), Linear(8, 7), nn.ReLU(), Linear(7, 3))
        module[2].register_forward_hook(lambda m, given, made: seen.append(made.shape))
        traced = trace(module, rows(6))
        self.assertEqual(traced.groups, [])
        self.assertIn("has hooks", traced.whole["2"])
        seen.clear()
        traced.smaller({}, rescale=True)(*rows(6))
        self.assertEqual(seen, [(2, 7)])

    def test_weights_that_are_computed(self):
        for name, change in (
            ("weight_norm", lambda m: nn.utils.weight_norm(m[2])),
            ("prune", lambda m: prune.l1_unstructured(m[2], "weight", 0.5)),
            ("parametrized", lambda m: nn.utils.parametrizations.orthogonal(m[2])),
        ):
            with self.subTest(name):
                module = nn.Sequential(Linear(6, 8), nn.Tanh(), Linear(8, 8), nn.Tanh(), Linear(8, 7), Linear(7, 3))
                change(module)
                traced = self.law(module, rows(6), {"4": 7})
                self.assertIn("2", traced.whole)

    def test_what_mixes_units(self):
        for name, call, why in (
            ("softmax", lambda m, x: x.softmax(-1), "softmax"),
            ("mean", lambda m, x: x - x.mean(-1, keepdim=True), "mean"),
            ("index", lambda m, x: x + x[:, 3:4], "getitem"),
            ("one", lambda m, x: x * x[:, 3].unsqueeze(1), "getitem"),
            ("constant", lambda m, x: x + torch.arange(8.0), "add"),
            ("turned around", lambda m, x: x.flip(1), "flip"),
            ("products", lambda m, x: x * (x @ x.t()).sum(), "matmul"),
            ("unknown", lambda m, x: torch.fft.fft(x).real, "fft"),
            ("total", lambda m, x: x * x.sum(), "sum"),
            ("numbers", lambda m, x: x[:, torch.tensor([0, 2, 1, 3, 4, 5, 6, 7])], "getitem"),
        ):
            with self.subTest(name):
                traced = self.law(between(call), rows(6))
                if traced.groups:
                    self.assertLess(traced.groups[0].units, 8)
                else:
                    self.assertIn("a", traced.whole)

    def test_the_ends(self):
        traced = trace(nn.Sequential(Linear(6, 8), Linear(8, 3)), rows(6))
        self.assertEqual([(g.name, g.droppable) for g in traced.groups], [("0", False)])
        self.assertEqual(traced.whole, {"1": "the module gives them"})

    def test_a_layer_of_no_rule(self):
        module = nn.Sequential(Conv2d(3, 6, 1), nn.LocalResponseNorm(2), Conv2d(6, 4, 1), nn.ReLU(), Conv2d(4, 2, 1))
        traced = self.law(module, images(), {"2": 4})
        self.assertIn("LocalResponseNorm", traced.whole["1"])

    def test_a_part_that_cannot_be_followed(self):
        class Picky(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Linear(8, 8)

            def forward(self, x):
                return self.inner(x) if x.sum() > 1e9 else self.inner(x) * 2

        traced = self.law(nn.Sequential(Linear(6, 8), Picky(), Linear(8, 5), nn.Tanh(), Linear(5, 2)), rows(6), {"2": 5})
        self.assertIn("depends on the values", traced.whole["1"])

    def test_what_cannot_be_followed_is_one_line(self):
        class Random(nn.Module):
            def forward(self, x):
                return x if x.sum() > 0 else -x

        for module, example in ((Random(), rows()), (Linear(4, 2), rows(5))):
            with self.assertRaises(RequestError) as caught:
                trace(module, example)
            self.assertEqual(len(str(caught.exception).splitlines()), 1)

    def test_what_is_asked_for_must_be_there(self):
        traced = trace(nn.Sequential(Linear(6, 8), Linear(8, 3)), rows(6))
        for kept in ({"none": [0]}, {"0": []}, {"0": [1, 0]}, {"0": [8]}, {"0": [0, 0]}):
            with self.assertRaises(RequestError):
                traced.smaller(kept, rescale=True)


if __name__ == "__main__":
    unittest.main()
