#!/usr/bin/env python3
"""Who would have computed a flow: Strake's decisions and the rule of Bilotta et al. (2013), from one report.

    strake run flow.yaml --on ocl:0,ocl:1 --balance model --report run.json
    bench/parts.py run.json [--units 132,132] [--block 256] [--factor 10]

Their rule takes a device more when those in use have FACTOR blocks of cells for each of their multiprocessors, and
cuts the rows that hold the flow in proportion to these. Predicted are seconds of a step for either: of each part a
line over its work, fitted to what the report saw, of the slowest part, and what a step of several parts took beyond it.
"""
import argparse
import bisect
import json
import sys


def fit(points):
    """Least squares of relative errors: start and rate, both at least 0. Without points nothing is known."""
    points = [(w, t) for w, t in points if w > 0.0 and t > 0.0]
    if not points:
        return None
    s = sw = sww = st = swt = 0.0
    for w, t in points:
        weight = 1.0 / (t * t)
        s, sw, sww = s + weight, sw + weight * w, sww + weight * w * w
        st, swt = st + weight * t, swt + weight * w * t
    determinant = s * sww - sw * sw
    if determinant > 1e-9 * s * sww:
        rate = (s * swt - sw * st) / determinant
        start = (st - rate * sw) / s
        if rate > 0.0 and start >= 0.0:
            return start, rate
    return 0.0, swt / sww


def before(decision, row):
    """Work of all rows before one."""
    places = decision["work_places"]
    k = bisect.bisect_right(places, row) - 1
    if k < 0 or row <= places[0]:
        return 0.0
    if k + 1 >= len(places):
        return decision["all_work"]
    span = places[k + 1] - places[k]
    return decision["all_work"] * (k + ((row - places[k]) / span if span > 0.0 else 0.0)) / (len(places) - 1)


def predict(decision, rows, lines, beyond):
    """Seconds of a step with these rows of each part; None where a part was never seen."""
    slowest, at, used = 0.0, 0.0, 0
    for p, count in enumerate(rows):
        work = before(decision, at + count) - before(decision, at)
        at += count
        if count > 0:
            if lines[p] is None:
                return None
            used += 1
            slowest = max(slowest, lines[p][0] + lines[p][1] * work)
    return slowest + (beyond if used > 1 else 0.0)


def paper(decision, units, block, factor):
    """Rows of each part by the rule: those beyond the flow go with its first and last part."""
    blocks, used = decision["all_work"] / block, 1
    while used < len(units) and blocks >= factor * sum(units[:used]):
        used += 1
    first, last = decision["work_places"][0], decision["work_places"][-1]
    total, rows, at = sum(decision["rows"]), [0] * len(units), 0
    for p in range(used):
        share = sum(units[:p + 1]) / sum(units[:used])
        end = total if p + 1 == used else round(first + share * (last - first))
        rows[p], at = end - at, end
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report")
    parser.add_argument("--units", help="multiprocessors of each part; as the report has them")
    parser.add_argument("--block", type=float, default=256, help="cells of a block")
    parser.add_argument("--factor", type=float, default=10, help="blocks of a saturated multiprocessor")
    options = parser.parse_args()
    with open(options.report, encoding="utf-8") as file:
        report = json.load(file)
    looks = [d for d in report["balance"]["decisions"] if "work" in d]
    if not looks:
        sys.exit(f"{options.report}: no look at a balance by work; expected a run of several parts of a problem "
                 "that leaves out cells (lava), with run.balance: model")
    parts = len(looks[0]["rows"])
    units = ([float(u) for u in options.units.split(",")] if options.units else
             [max(d["units"], d["threads"]) for d in report["devices"]][:parts])
    if len(units) != parts:
        sys.exit(f"--units: {len(units)} numbers; expected one for each of {parts} parts")
    lines = [fit([(d["work"][p], d["seconds"][p]) for d in looks]) for p in range(parts)]
    shared = [max(0.0, d["step_seconds"] - max(d["seconds"])) for d in looks if sum(r > 0 for r in d["rows"]) > 1]
    beyond = sorted(shared)[len(shared) // 2] if shared else 0.0
    for p, line in enumerate(lines):
        print(f"part {p}: " + ("never seen" if line is None else
                               f"{1e6 * line[0]:.4g} us + {1e9 * line[1]:.4g} ns a cell") + f", {units[p]:g} units")
    print(f"several parts: {1e6 * beyond:.4g} us more")
    print("step,all_work,rows,measured_ms,predicted_ms,paper_rows,paper_predicted_ms")
    ours = theirs = 0.0
    for k, d in enumerate(looks):
        rule = paper(d, units, options.block, options.factor)
        own, other = predict(d, d["rows"], lines, beyond), predict(d, rule, lines, beyond)
        steps = (looks[k + 1]["step"] if k + 1 < len(looks) else d["step"] + 1) - d["step"]
        if own is not None and other is not None:
            ours, theirs = ours + steps * own, theirs + steps * other
        show = [("unknown" if t is None else f"{1e3 * t:.4g}") for t in (own, other)]
        print(f"{d['step']},{d['all_work']:.0f},{'+'.join(map(str, d['rows']))},{1e3 * d['step_seconds']:.4g},"
              f"{show[0]},{'+'.join(map(str, rule))},{show[1]}")
    print(f"predicted: {ours:.4g} s as decided, {theirs:.4g} s by the rule")


if __name__ == "__main__":
    main()
