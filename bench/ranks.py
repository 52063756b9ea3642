#!/usr/bin/env python3
"""Tables of bench/plan_ranks.sh. usage: ranks.py FOLDER [LINK RANKS CASE]

The folder has runs.jsonl; writes exchange.txt and choice.txt, or prints what was near the fastest in this case."""
import json
import sys
from pathlib import Path
from statistics import median


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


def programs(runs):
    """By link, ranks and case: seconds a step of all runs of each way and number of steps, and which ones runs chose."""
    tables = {}
    for run in runs:
        if run["what"] == "choice":
            x, report = run["report"]["rank_exchange"], run["report"]
            program = f"{x['exchange']} {x['steps_per_sweep']}"
            table, chosen = tables.setdefault((run["link"], run["ranks"], run["case"]), ({}, []))
            table.setdefault(program, []).append(report["seconds"] / report["case"]["steps"])
            if not run["options"]:
                chosen.append(program)
    return tables


def choices(runs):
    """What runs chose beside all others: medians. A run that chose is one more run of what it chose."""
    good = 0
    tables = programs(runs)
    for (link, ranks, case), (table, chosen) in sorted(tables.items()):
        times = {program: median(seconds) for program, seconds in table.items()}
        best = min(times, key=times.get)
        taken = median([times[program] for program in chosen] or [float("nan")])
        good += taken <= 1.03 * times[best]
        yield (f"{link:6} {ranks} ranks {case:7} chose {', '.join(chosen)}: {1e3 * taken:8.3f} ms a step; best {best} "
               f"{1e3 * times[best]:8.3f}: {100 * (taken / times[best] - 1):+6.1f} %")
        yield "       " + ", ".join(f"{program} {1e3 * times[program]:.3f} ({1e3 * min(seconds):.3f} to {1e3 * max(seconds):.3f}, "
                                    f"{len(seconds)} runs)" for program, seconds in sorted(table.items()))
    yield f"fastest, or within 3 % of it: {good} of {len(tables)}"


def near(runs, link, ranks, case):
    """Ways and steps that are within 30 % of the fastest so far."""
    table, _ = programs(runs).get((link, int(ranks), case), ({}, []))
    best = min((median(seconds) for seconds in table.values()), default=0.0)
    yield from (program for program, seconds in sorted(table.items()) if median(seconds) <= 1.3 * best)


def main():
    """Reads runs.jsonl of the folder; prints and writes both tables, or of a link, ranks and case the near ones."""
    folder = Path(sys.argv[1])
    runs = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    if len(sys.argv) > 2:
        print("\n".join(near(runs, *sys.argv[2:])))
        return
    for name, lines in (("exchange.txt", exchanges(runs)), ("choice.txt", choices(runs))):
        text = "\n".join(lines) + "\n"
        (folder / name).write_text(text)
        print(text)


main()
