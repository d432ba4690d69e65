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
    with open(path, "w", encoding="utf-8") as file:
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


def open_hdf5(folder, part, **options):
    import h5py
    return h5py.File(f"{folder}/fed_emnist_{part}.h5", "w", **options)


def hdf5(folder):
    for part, users in parts():
        with open_hdf5(folder, part) as file:
            for name, first, count in users:
                group = file.create_group(f"examples/{name}")
                images = [pixels(number(name), first + i) for i in range(count)]
                group.create_dataset("pixels", (count, 28, 28), "f4", [x for image in images for x in image],
                                     compression="gzip")
                group.create_dataset("label", data=[label(number(name), first + i) for i in range(count)], dtype="i4")


def hdf5_with(change):
    """A file of one user "a" with two pictures; change(file, group) makes something wrong with it."""
    def write(folder):
        import numpy
        with open_hdf5(folder, "train", libver="latest") as file:
            group = file.create_group("examples/a")
            group["pixels"] = numpy.ones((2, 28, 28), "f4")
            group["label"] = numpy.array([1, 2], "i4")
            change(file, group)
    return write


def replaced(name, make):
    """A change that puts make(numpy) in the place of that data set."""
    def change(_, group):
        import numpy
        del group[name]
        group[name] = make(numpy)
    return change


def linked_elsewhere(file, group):
    import h5py
    del group["pixels"]
    group["pixels"] = h5py.ExternalLink("other.h5", "/pixels")


def stored_elsewhere(file, group):
    del group["pixels"]
    group.create_dataset("pixels", (2, 28, 28), "f4", external=[("/dev/zero", 0, 2 * 784 * 4)])


BAD_HDF5 = {
    "good": lambda file, group: None,
    "no-examples": lambda file, group: file.move("examples", "clients"),
    "no-users": lambda file, group: file["examples"].pop("a"),
    "dataset-as-user": lambda file, group: file["examples"].create_dataset("b", data=[1]),
    "no-label": lambda file, group: group.pop("label"),
    "group-as-pixels": lambda file, group: (group.pop("pixels"), group.create_group("pixels")),
    "flat-pixels": replaced("pixels", lambda np: np.ones((2, 784), "f4")),
    "small-pixels": replaced("pixels", lambda np: np.ones((2, 28, 27), "f4")),
    "byte-pixels": replaced("pixels", lambda np: np.ones((2, 28, 28), "u1")),
    "nan-pixel": replaced("pixels", lambda np: np.full((2, 28, 28), float("nan"), "f4")),
    "large-pixel": replaced("pixels", lambda np: np.full((2, 28, 28), 255, "f4")),
    "three-labels": replaced("label", lambda np: np.array([1, 2, 3], "i4")),
    "large-label": replaced("label", lambda np: np.array([1, 62], "i4")),
    "negative-label": replaced("label", lambda np: np.array([-1, 1], "i4")),
    "float-label": replaced("label", lambda np: np.array([1, 2], "f4")),
    "scalar-label": replaced("label", lambda np: np.int32(1)),
    "none": lambda file, group: (replaced("pixels", lambda np: np.ones((0, 28, 28), "f4"))(file, group),
                                 replaced("label", lambda np: np.ones(0, "i4"))(file, group)),
    "absurd": lambda file, group: (group.pop("pixels"),
                                   group.create_dataset("pixels", (10**8, 28, 28), "f4", chunks=(1, 28, 28))),
    "large-chunks": lambda file, group: (group.pop("pixels"),
                                         group.create_dataset("pixels", (2, 28, 28), "f4", maxshape=(None, 28, 28),
                                                              chunks=(10**6, 28, 28))),
    "packed": lambda file, group: (group.pop("pixels"), group.pop("label"),
                                   group.create_dataset("pixels", (30000, 28, 28), "f4", chunks=(1000, 28, 28)),
                                   group.create_dataset("label", (30000,), "i4", chunks=(1000,))),
    "linked-elsewhere": linked_elsewhere,
    "stored-elsewhere": stored_elsewhere,
}


def main():
    name, folder = sys.argv[1:]
    writers = {"leaf-femnist": leaf_femnist, "leaf-shakespeare": leaf_shakespeare, "hdf5": hdf5}
    writers.update({f"hdf5-{bad}": hdf5_with(change) for bad, change in BAD_HDF5.items()})
    try:
        writers[name](folder)
    except ImportError as missing:
        print(f"write_data.py: {missing}", file=sys.stderr)
        sys.exit(77)


if __name__ == "__main__":
    main()
