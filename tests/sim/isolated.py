"""What a process of its own must not change: answers, failures and watches, here and isolated beside one another."""
import re


def essence(answer):
    """An answer without what is another at each resolve: times, and how long a source took."""
    told = {key: value for key, value in answer.items() if key not in ("time", "sources")}
    told["sources"] = [{key: value for key, value in source.items() if key != "milliseconds"} for source in answer.get("sources", [])]
    return told


def here_and_isolated(test, ask):
    """Two runs, one in process and one isolated, which say the same; the first. `ask` is told the environment."""
    here, there = (ask(env={"MUSTER_ISOLATE": isolate}) for isolate in ("false", "true"))
    test.assertEqual(here.code, there.code, (here, there))
    test.assertEqual(here.answer and essence(here.answer), there.answer and essence(there.answer))
    test.assertEqual(*(re.sub(r"\d+ ms|\d\d:\d\d:\d\d\S*", "TIME", run.err) for run in (here, there)))
    return here
