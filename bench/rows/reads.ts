/** Latency of API reads, one at a time, without other load. */

import type { Row } from '../row.ts';
import type { Service } from '../service.ts';
import { quantile } from '../statistics.ts';

const READS = 200;
const WARM_UPS = 20;
const MAX_P50_MS = 10;

export async function readRows(service: Service): Promise<Row[]> {
  const ids = await service.someEventIds(READS + WARM_UPS);
  // The cursor of a page in the middle, without reading a million events to get it.
  const cursorAt = (deep: object) => Buffer.from(JSON.stringify(deep)).toString('base64url');
  const amidstEvents = cursorAt(await service.medianEvent());
  const amidstRuns = cursorAt(await service.medianRun('app-0-fn-0'));
  const paths: Record<string, (n: number) => string> = {
    'an event by its ID': (n) => `/v1/events/${ids[n % ids.length]}`,
    'the first page of events': () => '/v1/events',
    'a middle page of all events': () => `/v1/events?cursor=${amidstEvents}`,
    'a page of the events of one name': () => '/v1/events?name=bench/kind-0',
    'the first page of runs': () => '/v1/runs',
    'a middle page of all runs': () => `/v1/runs?cursor=${amidstRuns}`,
    'a page of all failed runs': () => '/v1/runs?status=Failed',
    "a page of one function's runs": () => '/v1/runs?function_id=bench-run',
    "a page of one app's runs": () => '/v1/runs?app=app-0',
    "a page of one app's waiting runs": () => '/v1/runs?app=bench&status=Queued',
  };
  const rows: Row[] = [];
  for (const [what, path] of Object.entries(paths)) {
    const times = await measureReads(service, path);
    const row = { group: 'growth', unit: 'ms' } as const;
    const work = `full: read ${what}`;
    rows.push(
      { ...row, work: `${work}, p50`, value: quantile(times, 0.5), references: [], targets: [{ most: MAX_P50_MS }] },
      { ...row, work: `${work}, p99`, value: quantile(times, 0.99), references: [], targets: [] },
    );
  }
  return rows;
}

export async function measureReads(service: Service, path: (n: number) => string): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < READS + WARM_UPS; n++) {
    const startedAt = performance.now();
    await service.api(path(n));
    if (n >= WARM_UPS) times.push(performance.now() - startedAt);
  }
  return times;
}
