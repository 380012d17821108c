"""Streams that end, break off, fall silent or are forgotten: nothing is lost, and no more is asked for than is needed."""
import contextlib
import time
import unittest

from asking import lists, world
from watching import Watching, addresses, asked, change, parameter, pods, watched


class Endings(Watching):
    def test_a_stream_that_is_cut_goes_on_where_it_was_without_a_list(self):
        fault = '  faults: [{match: "GET *pods?*watch=1*", times: 1, drop_after_bytes: 60, reset: true}]\n'
        with world(fault + pods("0")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0))
            self.until(lambda: len(lists(sim)) == 2)
            change(sim, pods("0", "1"))
            self.becomes(watch, addresses(0, 1))
            self.until(lambda: len(lists(sim)) == 3)
            requests = lists(sim)
            self.assertEqual(asked(sim)[0], "list 200")
            self.assertEqual([kind.split()[0] for kind in asked(sim)], ["list", "watch", "watch"])
            self.assertEqual(parameter(requests[1], "resourceVersion"), parameter(requests[2], "resourceVersion"))

    def test_a_stream_that_ends_goes_on_from_its_last_event(self):
        # The body is one event and then the end.
        event = ('{"type":"ADDED","object":{"metadata":{"name":"w-9","namespace":"ml","resourceVersion":"999"},'
                 '"status":{"phase":"Running","podIP":"10.8.0.10"}}}')
        fault = "  faults: [{match: \"GET *pods?*watch=1*\", times: 1, body: '" + event + "\n\n'}]\n"
        with world(fault + pods("0")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0, 9))
            self.until(lambda: len(lists(sim)) >= 3)
            self.assertEqual(parameter(lists(sim)[2], "resourceVersion"), "999")

    def test_a_forgotten_version_is_listed_again_and_the_answer_is_never_stale(self):
        expired = ('{"type":"ERROR","object":{"kind":"Status","message":"too old resource version","reason":"Expired","code":410}}')
        protobuf = "status: 410, content_type: application/vnd.kubernetes.protobuf, body: none"
        for keys in ("status: 410", "body: '" + expired + "\n\n'", protobuf):
            fault = '  faults: [{match: "GET *pods?*watch=1*", times: 1, delay: 500ms, ' + keys + "}]\n"
            with self.subTest(keys), world(fault + pods("0")) as sim, watched(sim) as watch:
                self.becomes(watch, addresses(0))
                self.nothing_new(watch)
                self.until(lambda: len(lists(sim)) >= 4)
                self.assertEqual([kind.split()[0] for kind in asked(sim)], ["list", "watch", "list", "watch"])
                self.nothing_new(watch)
                change(sim, pods("0", "1"))
                self.becomes(watch, addresses(0, 1))

    def test_a_hundred_watchers_whose_streams_end_at_once_cost_one_request_each(self):
        bookmark = '{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"1002"}}}'
        fault = '  faults: [{match: "GET *pods?*watch=1*", times: 100, delay: 5s, body: \'' + bookmark + "\n\n'}]\n"
        with world(fault + pods("0")) as sim, contextlib.ExitStack() as stack:
            watches = [stack.enter_context(watched(sim)) for _ in range(100)]
            for watch in watches:
                self.becomes(watch, addresses(0))
            self.until(lambda: len(lists(sim)) >= 300, 30)
            change(sim, pods("0", "1"))
            for watch in watches:
                self.becomes(watch, addresses(0, 1))
            self.assertEqual((asked(sim).count("list 200"), asked(sim).count("watch 200")), (100, 200))

    def test_an_event_that_breaks_off_is_as_if_it_had_never_begun(self):
        part = '{"type":"ADDED","object":{"metadata":{"name":"w-9","namespace":"ml","resourceVersion":"999"},"sta'
        fault = '  faults: [{match: "GET *pods?*watch=1*", times: 1, body: \'' + part + "'}]\n"
        with world(fault + pods("0")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0))
            self.until(lambda: len(lists(sim)) == 3)
            change(sim, pods("0", "1"))
            self.becomes(watch, addresses(0, 1))
            requests = lists(sim)
            self.assertEqual(parameter(requests[1], "resourceVersion"), parameter(requests[2], "resourceVersion"))
            self.assertEqual(asked(sim), ["list 200", "watch 200", "watch 200"])

    def test_a_server_with_too_much_to_do_is_asked_again_when_it_says(self):
        fault = '  faults: [{match: "GET *pods?*watch=1*", times: 1, status: 429, retry_after: 3}]\n'
        with world(fault + pods("0")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0))
            self.until(lambda: len(lists(sim)) == 3)
            self.assertEqual(asked(sim), ["list 200", "watch 429", "watch 200"])
            times = [r["time_ms"] for r in lists(sim)]
            self.assertGreaterEqual(times[2] - times[1], 2900)
            change(sim, pods("0", "1"))
            self.becomes(watch, addresses(0, 1))

    def test_credentials_that_are_refused_later_are_found_anew_without_a_stale_answer(self):
        bookmark = '{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"1002"}}}'
        faults = ('  faults: [{match: "GET *pods?*watch=1*", times: 1, body: \'' + bookmark + "\n\n'}, "
                  '{match: "GET *pods?*watch=1*", times: 1, status: 401}]\n')
        with world(faults + pods("0")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0))
            self.until(lambda: len(lists(sim)) == 5)
            self.assertEqual(asked(sim), ["list 200", "watch 200", "watch 401", "list 200", "watch 200"])
            change(sim, pods("0", "1"))
            self.becomes(watch, addresses(0, 1))

    def test_what_changed_before_the_list_was_forgotten_is_in_the_next(self):
        fault = '  faults: [{match: "GET *pods?*watch=1*", times: 1, delay: 1s, status: 410}]\n'
        with world(fault + pods("0")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0))
            change(sim, fault.replace("times: 1", "after: 9") + pods("2"))
            self.becomes(watch, addresses(2))

    def test_a_silent_stream_is_given_up_for_a_new_list(self):
        fault = '  faults: [{match: "GET *pods?*watch=1*", times: 1, delay: 60s}]\n'
        with world("  bookmark_every: 500ms\n" + fault + pods("0")) as sim:
            with watched(sim, "watch_silence: 2, job_to_label_mapping: {worker: [app=t]}") as watch:
                self.becomes(watch, addresses(0))
                change(sim, "  bookmark_every: 500ms\n" + fault.replace("times: 1", "after: 9") + pods("0", "1"))
                began = time.monotonic()
                self.becomes(watch, addresses(0, 1))
                self.assertGreater(time.monotonic() - began, 1)
                # One list and one watch more, and then the bookmarks say that the stream lives.
                time.sleep(3)
                self.assertEqual([kind.split()[0] for kind in asked(sim)], ["list", "watch", "list", "watch"])

if __name__ == "__main__":
    unittest.main()
