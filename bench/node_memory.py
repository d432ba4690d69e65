#!/usr/bin/env python3
"""How much memory and how many bytes a `subfleet node` takes for sub-models of several sizes, over a stock SuperLink:
    bench/node_memory.py build/dev/subfleet build/dev/tests/flower_jobs
Prints a table as Markdown. Each row is a node of its own that does three jobs of emnist-cnn on generated handwriting."""
import re, subprocess, sys, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "flower"))
import superlink as flower

flower.use_environment()
SUBFLEET, JOBS = [str(Path(word).resolve()) for word in sys.argv[1:3]]


def measure(link, folder, keep, down, up):
    name = f"{keep}-{down}-{up}"
    for number in range(3):
        subprocess.run([JOBS, folder, f"{name}-{number}", str(keep), down, up, str(number)], check=True)
    node = subprocess.Popen([SUBFLEET, "node", "--superlink", link.address, "--insecure", "--client", "0", "--max-jobs", "3"],
                            stdout=subprocess.PIPE, text=True)
    link.run(ROOT / "tests" / "flower" / "app",
             {"folder": folder, "jobs": ",".join(f"{name}-{n}" for n in range(3)), "queries": False})
    said = node.communicate(timeout=60)[0]
    weights = int(re.search(r"(\d+) weights", said)[1])
    moved = re.search(r"; (.*) down, (.*) up at the socket; (.*) of memory", said)
    print(f"| {keep} | {down} / {up} | {weights:,} | {4 * weights / 1e6:.1f} MB | {moved[1]} / {moved[2]} | {moved[3]} |",
          flush=True)


print("| keep | wire down / up | weights | as f32 | 3 jobs, down / up | most memory |\n| --- | --- | --- | --- | --- | --- |")
with tempfile.TemporaryDirectory(prefix="subfleet-memory-") as folder, flower.SuperLink(Path(folder) / "link") as link:
    for keep in (1, 0.5, 0.25):
        for down, up in (("f32", "f32"), ("rot4", "rot1")):
            measure(link, folder, keep, down, up)
