"""What must be true of each run, whatever a server does."""
import json
import os
import re

# Time for a process to begin and end on a busy machine, over what a promise says.
OVERHEAD = float(os.environ.get("MUSTER_TEST_OVERHEAD", "2.0"))
# Complete, incomplete, not found, configuration, not permitted, unavailable, deadline. Not 1 (internal) and not 16 (a plugin's fault): it
# is the server that is wrong.
STATUSES = {0, 10, 11, 12, 13, 14, 15}
CANARY = b"canary"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
MOST_SAID = 256 << 10
MOST_MEMORY_KIB = 400 << 10


def judge(question, fault, run, result, elsewhere):
    """What is wrong with the result, or None."""
    for look in (status, deadline, memory, secrets, terminal, truth):
        if wrong := look(question, fault, run, result):
            return wrong
    # A credential belongs to one origin.
    if CANARY in elsewhere.heard:
        return "a credential went to another origin"
    return None


def status(question, fault, run, result):
    if result.status is None:
        return "it does not end"
    if result.status not in STATUSES:
        return f"it ends with status {result.status}"
    if result.status not in (0, 10) and not result.err.strip():
        return "it fails without a word"
    return None


def deadline(question, fault, run, result):
    # A recording of a very long answer is written after the deadline, still.
    late = 10 if run.recorded and fault.kind in ("endless", "gzip") else 0
    if result.seconds > run.timeout + OVERHEAD + late:
        return f"its deadline was {run.timeout} s, and it took {result.seconds:.1f} s"
    return None


def memory(question, fault, run, result):
    if result.peak > MOST_MEMORY_KIB and not (run.recorded and fault.kind in ("endless", "gzip")) and "SANITIZED" not in os.environ:
        return f"it took {result.peak >> 10} MiB of memory"
    return None


def secrets(question, fault, run, result):
    for where, text in (("stdout", result.out), ("stderr", result.err), ("the recording", result.recording)):
        if CANARY in text:
            return f"a credential is in {where}"
    return None


def terminal(question, fault, run, result):
    if len(result.err) > MOST_SAID:
        return f"it says {len(result.err)} bytes on stderr"
    shown = {"stderr": result.err}
    if run.form != "json":
        shown["stdout"] = result.out
    for where, text in shown.items():
        try:
            said = text.decode()
        except UnicodeDecodeError:
            return f"{where} is no UTF-8"
        if found := CONTROL.search(said):
            return f"{where} has the control character {found.group()!r}"
    return None


def truth(question, fault, run, result):
    """Status 0 says that this is the whole cluster."""
    if result.status not in (0, 10):
        return "it fails, and prints an answer" if result.out.strip() and run.form != "explain" else None
    addresses = [member.rpartition("=")[2] for member in question.members]
    if run.form != "json":
        lacks = [one for one in addresses if one.encode() not in result.out]
        return f"it is complete without {lacks}" if result.status == 0 and run.form == "table" and lacks and not fault.another else None
    try:
        answer = json.loads(result.out)
    except ValueError:
        return "it is no JSON" if result.out.strip() or result.status == 0 else None
    if answer["complete"] != (result.status == 0):
        return f"status {result.status}, and complete is {answer['complete']}"
    came = [task["address"] for task in answer["tasks"]]
    if answer["complete"] and came != addresses and not fault.another:
        return f"it is complete with {came}, and the truth is {addresses}"
    if any(address not in addresses for address in came):
        return f"it has {came}, and the truth is {addresses}"
    return None
