/** Latency of reads of 20 million archived events through the API of a web process, one at a time, without other load. */
import { customerOf, EVENT_NAMES } from '../archive-events.ts';
import { LoadedEvents, load } from '../archive-load.ts';
import type { Measurement } from '../bench.ts';
import type { Row } from '../row.ts';
import { quantile } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';

/** Per second of a round. */
const READS = 40;
/** Searches of a day take longer. */
const SEARCHES = 4;
const WARM_UP_PART = 0.1;
const PROGRESS_STEP = 1_000_000;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const WORK = 'archived: read';
const group = 'archive';

/** A kind of reads. */
interface Reads {
  path(n: number): string;
  /** Milliseconds. */
  most?: number;
  /** Per second of a round. */
  count?: number;
  /** Entries of each response; undefined: one object. */
  entries?: number;
}

export const archiveReads: Measurement = {
  group,
  names: [WORK],
  measure: (bench) =>
    bench.withTestBed({ archive: true }, async (testBed) => {
      const events = new LoadedEvents(bench.options.archiveEvents, Date.now());
      let shown = 0;
      await load(testBed.archive, events, (done) => {
        if (done < shown + PROGRESS_STEP && done < events.count) return;
        shown = done;
        bench.progress(`${done.toLocaleString('en')} events are archived`);
      });
      const rows: Row[] = [];
      for (const [what, reads] of Object.entries(kindsOf(events))) {
        const times = await timesOf(testBed, reads);
        const row = { group, unit: 'ms', references: [] } as const;
        const targets = reads.most === undefined ? [] : [{ most: reads.most }];
        const work = `${WORK} ${what}`;
        rows.push({ ...row, references: [], work: `${work}, p50`, value: quantile(times, 0.5), targets });
        rows.push({ ...row, references: [], work: `${work}, p99`, value: quantile(times, 0.99), targets: [] });
      }
      return { rows, costs: [], series: [] };
    }),
};

function kindsOf(events: LoadedEvents): Record<string, Reads> {
  /** Different events, all over the time. */
  const some = (n: number) => Math.floor((events.count * ((n * 0.618_034) % 1)) / 20) * 20;
  const cursor = (at: number, id: string) => Buffer.from(JSON.stringify({ at, id })).toString('base64url');
  const middle = Math.floor(events.count / 2);
  const between = (from: number, length: number) => {
    return `received_after=${new Date(from).toISOString()}&received_before=${new Date(from + length).toISOString()}`;
  };
  const day = events.at(middle);
  const inDay = events.firstAfter(day + DAY_MS / 3);
  const search = (text: string) => `/v1/events?${between(day, DAY_MS)}&search=${encodeURIComponent(text)}`;
  const customer = (id: string) => `data.customer.id == "${id}"`;
  return {
    'an event by its ID': { path: (n) => `/v1/events/${events.id(some(n))}`, most: 10 },
    'the runs of an event': { path: (n) => `/v1/events/${events.id(some(n))}/runs`, entries: 1 },
    'a run by its ID': { path: (n) => `/v1/runs/${events.runId(some(n))}` },
    'the first page of events': { path: () => '/v1/events', most: 50, entries: 20 },
    'a middle page of all events': {
      path: (n) => `/v1/events?cursor=${cursor(events.at(some(n) + 20), events.id(some(n) + 20))}`,
      most: 50,
      entries: 20,
    },
    'the first page of runs': { path: () => '/v1/runs', entries: 20 },
    'a middle page of all runs': {
      path: () => `/v1/runs?cursor=${cursor(events.at(middle), events.runId(middle))}`,
      entries: 20,
    },
    'events by name and hour': {
      path: (n) =>
        `/v1/events?name=${EVENT_NAMES[n % EVENT_NAMES.length]}&${between(events.at(some(n)) - HOUR_MS, HOUR_MS)}`,
      most: 100,
    },
    'events of a day by content, one match': {
      path: () => search(customer(customerOf(inDay))),
      most: 2_000,
      count: SEARCHES,
      entries: 1,
    },
    'events of a day by content, no match': {
      path: (n) => search(customer(`none_${n}`)),
      most: 2_000,
      count: SEARCHES,
      entries: 0,
    },
    'events of a day by content, many matches': { path: () => search('data.currency == "EUR"'), entries: 20 },
  };
}

/** @throws Error when a response has other entries than expected: its time would be that of something else */
async function timesOf({ service, bench }: TestBed, { path, count = READS, entries }: Reads): Promise<number[]> {
  const times: number[] = [];
  const measured = Math.ceil(count * bench.options.seconds);
  const warmUps = Math.ceil(WARM_UP_PART * measured);
  for (let n = 0; n < measured + warmUps; n++) {
    const startedAt = performance.now();
    const data = await service.api<unknown[]>(path(n));
    if (n >= warmUps) times.push(performance.now() - startedAt);
    if (entries !== undefined && data.length !== entries)
      throw new Error(`${path(n)}: ${data.length} entries instead of ${entries}`);
  }
  return times;
}
