"""The report of a check: JSON for programs, Markdown for people."""
import json
import os

NAMES = ("report.json", "report.md")


def write(report, folder):
    """Both files, each replaced as a whole: a check that is stopped leaves the last state."""
    for name, text in zip(NAMES, (json.dumps(report, indent=1) + "\n", markdown(report))):
        path = os.path.join(folder, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def title(report):
    card = (report["machine"] or {}).get("card")
    where = "the emulator" if report["kind"] == "emulated" else card["name"] if card else "no card"
    return f"GPU check on {where}, {report['date']}: {report['outcome']}"


def markdown(report):
    lines = [f"# {title(report)}", ""]
    if report["kind"] == "emulated":
        lines += ["On the emulator: this shows that the check works, and nothing about a card.", ""]
    lines += body(report)
    return "\n".join(lines) + "\n"


def body(report):
    """Parts, what went wrong, speeds, machine."""
    lines = ["| part | outcome | | seconds |", "|---|---|---|---|"]
    for part in report["parts"]:
        outcome = part["outcome"] if part["outcome"] in ("passed", "skipped") \
            else f"**{part['outcome']}**"
        lines.append(f"| {part['name']} | {outcome} | {cell(part.get('summary', ''))} | "
                     f"{part.get('seconds', '')} of {part['limit']} |")
    for part in report["parts"]:
        if part.get("detail"):
            lines += ["", f"### {part['name']}", "", "```", part["detail"].rstrip(), "```"]
    lines += speeds(report)
    lines += ["", "## Machine", "", "| | |", "|---|---|", f"| commit | {report['commit']} |"]
    for key, value in (report["machine"] or {}).items():
        if isinstance(value, dict):
            value = ", ".join(str(item) for item in value.values())
        lines.append(f"| {key} | {cell(str(value if value is not None else 'none'))} |")
    return lines


def cell(text):
    return text.replace("|", "\\|")


def speeds(report):
    """The rows of cpu_vs_cuda, those below their goal first."""
    rows = report.get("rows") or {}
    timed = [row for row in rows.get("rows", []) if "cuda_ns" in row]
    if not timed:
        return []
    lines = ["", "## Speed", "",
             f"A copy within the device: {rows['copy_gb_per_s']:,.0f} GB/s, read and written. CPU: "
             f"{rows['threads']} threads. Goals: 97 % of bare cuBLAS for products; 85 % of that copy "
             "for what memory bounds, or where the machine code of its kernel says that something "
             "else limits it what is expected then (docs/cuda-kernels.md)."]
    below = [row for row in timed if not row.get("met", True)]
    wanted = [row for row in timed if "met" in row]
    lines += ["", f"{len(wanted) - len(below)} of {len(wanted)} rows reach their goal."]
    if below:
        lines += ["", "### Below their goal", ""] + table(below, kernels=True)
    sections = dict.fromkeys(row["section"] for row in timed)
    for section in sections:
        lines += ["", f"### {section}", ""]
        lines += table([row for row in timed if row["section"] == section])
    return lines


def table(rows, kernels=False):
    heads = ["", "CPU", "CUDA", "times", "rate", "of copy", "expected", "of cuBLAS", "PyTorch",
             "Taper / PyTorch"] + (["kernel", "limit"] if kernels else [])
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in rows:
        rate = f"{row['gb_per_s']:,.0f} GB/s" if "gb_per_s" in row else \
            f"{row['gflop_per_s'] / 1000:,.2f} TFLOP/s" if "gflop_per_s" in row else ""
        torch = row.get("torch_ns")
        cells = [row["name"], duration(row["cpu_ns"]), duration(row["cuda_ns"]),
                 f"{row['ratio']:.1f}", rate, share(row.get("share_of_copy")),
                 share(row.get("expected"), 0), share(row.get("share_of_cublas")),
                 duration(torch) if torch else "", f"{row['cuda_ns'] / torch:.2f}" if torch else ""]
        if kernels:
            cells += [f"`{row['kernel']}`" if "kernel" in row else "", row.get("limit", "")]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def share(value, digits=1):
    return f"{100 * value:.{digits}f} %" if value else ""


def duration(ns):
    for scale, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= scale:
            return f"{ns / scale:.3g} {unit}"
    return f"{ns:.3g} ns"
