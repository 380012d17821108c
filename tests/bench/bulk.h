/* The addresses of backend "bulk", of its shared object and of its executable: made before anybody measures. */
#ifndef MUSTER_BENCH_BULK_H
#define MUSTER_BENCH_BULK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct bulk_address {
  char text[80];
  uint64_t size;
};

static inline struct bulk_address *bulk_addresses(int64_t count, int dns) {
  struct bulk_address *all = (struct bulk_address *)calloc((size_t)count, sizeof *all);
  if (all == NULL) abort();
  for (int n = 0; n < (int)count; ++n) {
    all[n].size =
        (uint64_t)(dns != 0 ? snprintf(all[n].text, sizeof all[n].text,
                                       "worker-%d.training.default.svc.cluster.local:8470", n)
                            : snprintf(all[n].text, sizeof all[n].text, "10.%d.%d.%d:8470",
                                       n / 65536, n / 256 % 256, n % 256));
  }
  return all;
}

#endif
