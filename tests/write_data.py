#!/usr/bin/env python3
"""Writes small data sets the way LEAF and TensorFlow Federated do, for the tests of their readers.

    write_data.py NAME FOLDER

Pixel p of example i of user u is ((31 u + 7 i + p) mod 256) / 255, its label (5 u + i) mod 62. Exits with 77 where a
Python module is missing.
"""
import json
import os
import sys

USERS = ["f0003_07", "f0001_41", "f0002_11"]  # number u is the place by increasing name
TRAIN, TEST = [4, 3, 5], [1, 2, 1]  # examples by number


def pixels(user, i):
    return [(31 * user + 7 * i + place) % 256 / 255 for place in range(784)]


def label(user, i):
    return (5 * user + i) % 62


def number(name):
    return sorted(USERS).index(name)


def parts():
    """(part, [(name, first example, how many)])"""
    yield "train", [(name, 0, TRAIN[number(name)]) for name in USERS]
    yield "test", [(name, TRAIN[number(name)], TEST[number(name)]) for name in USERS]


def write_shard(path, user_data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shard = {"users": list(user_data), "num_samples": [len(data["y"]) for data in user_data.values()],
             "user_data": user_data}
    with open(path, "w") as file:
        json.dump(shard, file)


def leaf_femnist(folder):
    for part, users in parts():
        for shard, some in enumerate([users[:2], users[2:]]):
            write_shard(f"{folder}/{part}/all_data_{shard}_niid_0_keep_0_{part}_9.json",
                        {name: {"x": [pixels(number(name), first + i) for i in range(count)],
                                "y": [label(number(name), first + i) for i in range(count)]}
                         for name, first, count in some})


TEXT = "To be, or not to be, that is the question: whether 'tis nobler in the mind to suffer the slings é " * 2


def leaf_shakespeare(folder):
    for part, users in parts():
        write_shard(f"{folder}/{part}/all_data.json",
                    {name: {"x": [TEXT[first + i:first + i + 80] for i in range(count)],
                            "y": [TEXT[first + i + 80] for i in range(count)],
                            "raw": {"lines": [TEXT, None, True]}}
                     for name, first, count in users})


def main():
    name, folder = sys.argv[1:]
    writers = {"leaf-femnist": leaf_femnist, "leaf-shakespeare": leaf_shakespeare}
    try:
        writers[name](folder)
    except ImportError as missing:
        print(f"write_data.py: {missing}", file=sys.stderr)
        sys.exit(77)


if __name__ == "__main__":
    main()
