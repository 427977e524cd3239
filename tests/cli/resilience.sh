#!/usr/bin/env bash
# resilience: what is left of a network as links fail, the same on any number of threads.
source "$(dirname "$0")/lib.sh"

exits 0 resilience mesh:4x4 all-gather --size 16MiB --threads 1 --json --plot one.svg
cp out one
json "[row['failed_percent'] for row in result['rows']] == [0, 1, 2, 5, 10]"
json "[row['failed_cables'] for row in result['rows']] == [0, 1, 1, 1, 2]"
json "all(row['mean_bound_us'] <= row['mean_time_us'] <= row['worst_time_us'] for row in result['rows'])"
json "result['rows'][0]['mean_time_us'] <= result['rows'][-1]['mean_time_us']"
grep -q '<svg' one.svg || die "no picture"
exits 0 resilience mesh:4x4 all-gather --size 16MiB --threads 3 --json
cmp out one || die "threads change the result"
exits 0 resilience mesh:4x4 all-gather --size 16MiB --draws 2
says "with 10% of its cables failed"
exits 0 resilience switch:4 all-gather --size 1MiB --json
json "result['rows'][1]['cut_off'] == 5 and result['rows'][1]['mean_time_us'] is None"
fails 4 "cannot reach" resilience mesh:2 all-gather --fail link:0-1
fails 2 "standard output" resilience mesh:2 all-gather --plot - --json
fails 3 "unknown topology" resilience mehs:2 all-gather
