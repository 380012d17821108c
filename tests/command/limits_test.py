"""What the limits of the system do to a run: it answers, or it says in words what there is too little of."""
import resource
import subprocess

from world import MUSTER, STATIC, World, main

MERGE = """cluster:
  merge:
    - {backend: static, isolate: true, options: {cluster_spec: {worker: ["10.0.0.1:8470"]}}}
    - {backend: static, options: {cluster_spec: {ps: ["10.0.0.2:8470"]}}}
"""
MEBIBYTE = 1 << 20


class Limits(World):
    def limited(self, limit, size, config=STATIC):
        """The status and the words of a resolve under this limit."""
        path = self.file("muster.yaml", config)

        def confine():
            resource.setrlimit(limit, (size, size))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        process = subprocess.run([MUSTER, "resolve", "-f", path, "-o", "names"], env=self.environment(), preexec_fn=confine,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        return process.returncode, process.stdout, process.stderr

    def each(self, limit, sizes, config, answer):
        """All that a resolve says under one of these limits; it says an answer, or that memory is short."""
        said = set()
        for size in sizes:
            status, out, err = self.limited(limit, size, config)
            if "error while loading shared libraries" in err or "the loader says" in err:
                continue  # the system's loader speaks
            said.add(status)
            with self.subTest(size=size):
                if status == 0:
                    self.assertEqual(out, answer)
                else:
                    self.assertEqual((status, out), (14, ""), err)
                    self.assertRegex(err, "out of memory|had no memory|gives no thread")
        return said

    def test_a_limit_of_data_is_an_answer_or_is_told_with_14(self):
        said = self.each(resource.RLIMIT_DATA, range(MEBIBYTE, 13 * MEBIBYTE, MEBIBYTE // 2), STATIC, "worker/0\nworker/1\nps/0\n")
        self.assertEqual(said, {0, 14})

    def test_a_limit_of_address_space_is_an_answer_or_is_told_with_14(self):
        said = self.each(resource.RLIMIT_AS, range(11 * MEBIBYTE, 40 * MEBIBYTE, MEBIBYTE), STATIC, "worker/0\nworker/1\nps/0\n")
        self.assertEqual(said, {0, 14})

    def test_an_isolated_backend_without_memory_is_not_blamed(self):
        said = self.each(resource.RLIMIT_DATA, range(MEBIBYTE, 96 * MEBIBYTE, 3 * MEBIBYTE), MERGE, "worker/0\nps/0\n")
        self.assertEqual(said, {0, 14})

    def test_a_small_stack_is_told_and_one_that_is_not_too_small_is_enough(self):
        for kibibytes in (64, 128, 255):
            status, out, err = self.limited(resource.RLIMIT_STACK, kibibytes << 10)
            self.assertEqual((status, out), (14, ""))
            self.assertIn(f"the limit of the stack is {kibibytes} KiB, and muster needs 256 KiB: raise it (ulimit -s)", err)
        self.assertEqual(self.limited(resource.RLIMIT_STACK, 256 << 10), (0, "worker/0\nworker/1\nps/0\n", ""))


if __name__ == "__main__":
    main()
