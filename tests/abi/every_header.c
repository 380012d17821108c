/* Every public header in one unit, twice each: a launcher that is a plugin too may include them all, in any dialect. */
#include <muster/http.h>
#include <muster/http_streams.h>
#include <muster/muster.h>
#include <muster/plugin.h>
#include <muster/process.h>
#include <muster/transport.h>

#include <muster/http.h>
#include <muster/http_streams.h>
#include <muster/muster.h>
#include <muster/plugin.h>
#include <muster/process.h>
#include <muster/transport.h>

MUSTER_DESCRIPTOR({
  "name" : "x",
  "version" : "1",
  "abi" : {"major" : 1, "minor" : 0},
  "description" : "commas, (brackets) and \\ too"
})

/* Every struct can be made empty and sized. */
static const muster_task_v1 task = {sizeof(muster_task_v1), 0, 0, MUSTER_UNRANKED, 0, 0, 0, 0, 0};

int main(void) { return muster_descriptor_text[0] == '{' && task.index == -1 ? 0 : 1; }
