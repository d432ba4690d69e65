"""Waits for one node, asks it what it is, sends it jobs from FOLDER, and writes there what it answers: query.json, and
NAME.reply or NAME.error for each of the jobs."""
import json, time
from pathlib import Path

from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, RecordDict
from flwr.serverapp import Grid, ServerApp

app = ServerApp()


def wait_for_node(grid):
    while not (nodes := list(grid.get_node_ids())):
        time.sleep(0.1)
    return nodes[0]


def ask(grid, messages):
    waiting = dict(zip(grid.push_messages(list(messages.values())), messages))
    replies, end = {}, time.time() + 120
    while waiting and time.time() < end:
        for reply in grid.pull_messages(set(waiting)):
            replies[waiting.pop(reply.metadata.reply_to_message_id)] = reply
        time.sleep(0.1)
    return replies


def query(message_format):
    return RecordDict({"subfleet": ConfigRecord({"protocol": 1, "format": message_format})})


def job(data):
    array = Array("uint8", (len(data),), "subfleet.job/1", data)
    return RecordDict({"subfleet": ArrayRecord({"job": array})})


@app.main()
def main(grid: Grid, context: Context) -> None:
    folder, names = Path(context.run_config["folder"]), context.run_config["jobs"].split(",")
    node = wait_for_node(grid)

    def message(content, kind):
        return Message(content, dst_node_id=node, message_type=kind, ttl=120)
    if context.run_config["queries"]:
        known = query(context.run_config["format"])
        replies = ask(grid, {"query": message(known, "query"), "evaluate": message(known, "evaluate"),
                             "other": message(RecordDict({"other": ConfigRecord({"protocol": 1})}), "query")})
        record = replies["query"].content["subfleet"]
        (folder / "query.json").write_text(json.dumps({key: record[key] for key in record}))
        for name in ("evaluate", "other"):
            (folder / f"{name}.error").write_text(f"{replies[name].error.code} {replies[name].error.reason}")
    jobs = {name: message(job((folder / f"{name}.job").read_bytes()), "train") for name in names}
    for name, reply in ask(grid, jobs).items():
        if reply.has_error():
            (folder / f"{name}.error").write_text(f"{reply.error.code} {reply.error.reason}")
            continue
        array = reply.content["subfleet"]["update"]
        assert array.dtype == "uint8" and array.stype == "subfleet.update/1" and tuple(array.shape) == (len(array.data),)
        (folder / f"{name}.reply").write_bytes(array.data)
