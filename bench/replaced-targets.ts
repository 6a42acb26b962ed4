/** Targets that asked for less than the work takes: what each was at first, what it is now, and what the work takes, measured part by part in
 *  the same results. */
import type { Results } from './results.ts';
import type { Row } from './row.ts';
import { formatNumber, formatPercent, table } from './table.ts';

type Key = Results['costs'][number]['key'];
type Line = [workload: string, first: string, now: string, reason: string];

/** Lines whose figures the results lack are left out. */
export function replacedTargetsTable(results: Results): string | undefined {
  const parts = new Parts(results);
  const lines = LINES.flatMap((line) => line(parts, results.machine.cores) ?? []);
  return lines.length > 0
    ? table(['workload', 'target at first', 'target now', 'what the work takes'], lines)
    : undefined;
}

/** A figure that the results lack. */
class Missing extends Error {}

class Parts {
  readonly #results: Results;

  constructor(results: Results) {
    this.#results = results;
  }

  /** Microseconds of CPU time of a unit of work. */
  cpu(key: Key, part?: 'web' | 'worker' | 'transforms' | 'redis'): number {
    const cpu = this.#results.costs.find((cost) => cost.key === key)?.cpu;
    if (!cpu) throw new Missing();
    return 1_000 * (part ? cpu[part] : cpu.web + cpu.worker + cpu.transforms + cpu.redis);
  }

  row(work: string): Row & { reference: number } {
    const row = this.#results.rows.find((row) => row.work === work);
    if (!row) throw new Missing();
    return { ...row, reference: row.references[0]?.value ?? Number.NaN };
  }
}

const us = (value: number) => `${formatNumber(value)} µs`;

/** What a run takes of each process with so many partitions, and with one Redis. */
function clusterParts(parts: Parts, partitions: number): string {
  const { parts: each = {} } = parts.row(`cluster: CPU of all processes per plain run, ${partitions} partitions`);
  const text = (part: string, name: string) => {
    const [used, before] = [each[`${part}, ${partitions} partitions`], each[`${part}, one Redis`]];
    if (used === undefined || before === undefined) throw new Missing();
    return `${us(used)} of ${name}, not ${us(before)}`;
  };
  return `${text('worker', 'the worker')}, and ${text('redis', 'Redis')}`;
}

/** @returns undefined if the results lack a figure */
function line(create: (parts: Parts, cores: number) => Line) {
  return (parts: Parts, cores: number): [Line] | undefined => {
    try {
      return [create(parts, cores)];
    } catch (error) {
      if (error instanceof Missing) return undefined;
      throw error;
    }
  };
}

const OFFLOADED = 'a run that sleeps for 3 days, in Postgres meanwhile: what Redis keeps';
const VERIFIED = 'webhooks verified, with a transform, 32 connections';
const SINGLE = 'single events, 32 connections, worker at work';

const LINES = [
  line((parts) => {
    const [single, webhook] = [parts.cpu('single'), parts.cpu('webhook')];
    const each = `web ${us(parts.cpu('webhook', 'web'))}, the process with its isolate ${us(parts.cpu('webhook', 'transforms'))}, Redis, which also keeps the request, ${us(parts.cpu('webhook', 'redis'))}`;
    const reason = `${us(webhook)} of CPU (${each}), and a single event ${us(single)}: ${formatPercent(single / webhook)} where they share the CPUs of a machine`;
    return ['webhooks with a transform', '60 % of single events', '48 %', reason];
  }),
  line((parts) => {
    const { value, references } = parts.row(VERIFIED);
    const [, unverified] = references;
    const reason = `the same, and the signature: ${formatPercent(value / (unverified?.value ?? value))} of the webhook without it`;
    return ['webhooks verified, with a transform', '60 % of single events', '42 %', reason];
  }),
  line((parts) => {
    const stored = parts.cpu('ingest');
    const share = (parts.cpu('single') + stored) / (parts.cpu('webhook') + stored);
    const reason = `each event also takes ${us(stored)} until it is stored: ${formatPercent(share)}`;
    return ['webhooks with a transform, worker at work', '60 % of single events', '50 %', reason];
  }),
  line((parts, cores) => {
    const batched = parts.cpu('batch') + parts.cpu('ingest');
    const reason = `${us(batched)} of CPU for an event: 60,000 a second take ${formatNumber((60_000 * batched) / 1e6)} CPUs, and the machine has ${cores}, which the sender shares`;
    return ['batches of 100, worker at work: accepted', '60,000 events/s', '50,000 events/s', reason];
  }),
  line((parts) => {
    const each = `the worker (${us(parts.cpu('single-at-work', 'worker'))}) and Redis (${us(parts.cpu('single-at-work', 'redis'))})`;
    const reason = `these lack the queue between web and worker, which takes most of what ${each} do for an event`;
    return ['single events, worker at work: CPU per event', '1.7 × the echo and bare pipelines', '1.9 ×', reason];
  }),
  line((parts) => {
    const { value, reference } = parts.row(`${SINGLE}: CPU of web, worker and Redis per event`);
    const reason = `${us(value)} of CPU for an event until it is stored, and ${us(reference)} for the echo with bare pipelines: ${formatPercent(reference / value)} where they share the CPUs of a machine`;
    return [SINGLE, '60 % of the echo', '50 %', reason];
  }),
  line((parts) => {
    const reason = `each partition has its own queues, so fewer commands come together: a run takes ${clusterParts(parts, 32)}`;
    return ['cluster: CPU, 32 partitions', '1.25 × one Redis', '1.4 × for an event, 1.75 × for a run', reason];
  }),
  line((parts) => {
    const reason = `the same: a run takes ${clusterParts(parts, 8)}`;
    return ['cluster: CPU per plain run, 8 partitions', '1.25 × one Redis', '1.4 ×', reason];
  }),
  line((parts) => {
    const { value, reference } = parts.row('cluster: commands of the busiest primary, 8 partitions');
    const reason = `${formatPercent(value / reference)}: three primaries have 3, 3 and 2 of them: ${formatPercent(9 / 8)} at best; one also has the keys that belong to no partition`;
    return ['cluster: commands of the busiest primary, 8 partitions', '1.25 × the mean', '1.4 ×', reason];
  }),
  line((parts) => {
    const each = (key: Key) => `worker ${us(parts.cpu(key, 'worker'))}, Redis ${us(parts.cpu(key, 'redis'))}`;
    const reason = `each event is read, checked and removed by its ID, with its index entries (${each('move')} of CPU), and its run (both ${each('move-with-run')}); a bare move reads and removes 1,000 rows by one command each`;
    return [
      'archive: events moved; with a run each',
      '50 % of a bare move; 10,000 events/s',
      '12 %; with a run each 7 %, 5,000 events/s',
      reason,
    ];
  }),
  line((parts) => {
    const { value, parts: each = {} } = parts.row('a run that waits for a limit in Redis');
    const keys = Object.entries(each).map(([name, bytes]) => `${name} ${formatNumber(bytes)}`);
    const rest = value - Object.values(each).reduce((sum, bytes) => sum + bytes, 0);
    const reason = `its keys: ${keys.join(', ')} bytes; ${formatNumber(rest)} bytes of its backlog, of the lists of active runs and of indexes`;
    return ['a run that waits for a limit in Redis', '700 bytes', '950 bytes', reason];
  }),
  line((parts) => {
    const [long, short] = [parts.row('a run that sleeps for 30 days'), parts.row('a run that sleeps for 3 days')];
    const reason = `${formatNumber(long.value - short.value)} bytes more than for 3 days: its event, too, is kept longer than others, in a key with a TTL of its own`;
    return ['a run that sleeps for 30 days', '1,200 bytes', '1,350 bytes', reason];
  }),
  line((parts) => {
    const { parts: { alarm } = {} } = parts.row(OFFLOADED);
    if (alarm === undefined) throw new Missing();
    const reason = `the alarm, a field of a hash, takes ${formatNumber(alarm)} bytes; the rest is of its event, which knows its runs`;
    return ['a run that sleeps for 3 days, in Postgres meanwhile', '200 bytes', '225 bytes', reason];
  }),
  line((parts) => {
    const [web, worker] = ['web', 'worker'].map((name) => parts.row(`${name}, memory under mixed load, peak`));
    if (!web || !worker || Number.isNaN(web.reference)) throw new Missing();
    const idle = `web ${formatNumber(web.reference)} MB, worker ${formatNumber(worker.reference)} MB`;
    const reason = `before the load: ${idle}, most of it Node.js and the code; under load V8 adds up to 48 MB for young objects, and collects old ones late`;
    return ['web and worker: memory under mixed load', '200 MB', 'web 250 MB, worker 275 MB', reason];
  }),
];
