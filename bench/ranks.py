#!/usr/bin/env python3
"""Tables of bench/plan_ranks.sh. usage: ranks.py FOLDER, which has runs.jsonl; writes exchange.txt and choice.txt."""
import json
import sys
from pathlib import Path


def exchanges(runs):
    """Predicted beside measured exchanges: the least of equal runs."""
    rows = {}
    for run in runs:
        x = run["report"]["rank_exchange"]
        if run["what"] == "exchange" and x["predicted_seconds"] is not None:
            bytes_sent = run["report"]["devices"][0]["rank_bytes_per_sweep"]
            key = run["link"], run["ranks"], x["exchange"], run["case"], bytes_sent
            best = rows.get(key)
            if best is None or x["measured_seconds"] < best[1]:
                rows[key] = x["predicted_seconds"], x["measured_seconds"]
    yield f"{'link':6} {'ranks':>5} {'exchange':10} {'rows':8} {'bytes sent':>10} {'predicted us':>13} {'measured us':>12} {'ratio':>6}"
    good = 0
    for (link, ranks, way, case, size), (predicted, measured) in sorted(rows.items()):
        ratio = predicted / measured
        good += 0.8 <= ratio <= 1.25
        ends = "open" if case == "line" else "periodic"
        yield f"{link:6} {ranks:5} {way:10} {ends:8} {size:10} {1e6 * predicted:13.1f} {1e6 * measured:12.1f} {ratio:6.2f}"
    yield f"within 25 %: {good} of {len(rows)}"


def choices(runs):
    """The run that chose by itself beside all others: milliseconds a step, the least of equal runs."""
    tables = {}
    for run in runs:
        if run["what"] != "choice":
            continue
        x, report = run["report"]["rank_exchange"], run["report"]
        name = "itself" if not run["options"] else f"{x['exchange']} {x['steps_per_sweep']}"
        table = tables.setdefault((run["link"], run["ranks"], run["case"]), {})
        seconds = report["seconds"] / report["case"]["steps"]
        chose = f"{x['exchange']} {x['steps_per_sweep']}"
        if name not in table or seconds < table[name][0]:
            table[name] = seconds, chose
    good = 0
    for (link, ranks, case), table in sorted(tables.items()):
        others = {name: value[0] for name, value in table.items() if name != "itself"}
        if "itself" not in table or not others:
            continue
        best = min(others, key=others.get)
        seconds, chose = table["itself"]
        # What it chose is the same program as the other run of that name: the lesser of the two counts.
        taken = min(seconds, others.get(chose, seconds))
        good += taken <= 1.03 * others[best]
        yield (f"{link:6} {ranks} ranks {case:7} chose {chose:11} {1e3 * taken:8.3f} ms a step; best {best:11} {1e3 * others[best]:8.3f}: "
               f"{100 * (taken / others[best] - 1):+6.1f} %")
        yield "       " + ", ".join(f"{name} {1e3 * value:.3f}" for name, value in sorted(others.items()))
    yield f"fastest, or within 3 % of it: {good} of {len(tables)}"


def main():
    """Reads runs.jsonl of the folder, prints and writes both tables."""
    folder = Path(sys.argv[1])
    runs = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    for name, lines in (("exchange.txt", exchanges(runs)), ("choice.txt", choices(runs))):
        text = "\n".join(lines) + "\n"
        (folder / name).write_text(text)
        print(text)


main()
