/** Targets that asked for less than the work takes: what each was at first, what it is now, and what the parts of the service need for the
 *  work, from the costs of the same results. */
import type { Results } from './results.ts';
import { formatNumber, formatPercent, table } from './table.ts';

type Key = Results['costs'][number]['key'];

const SINGLE_AT_WORK = 'single events, 32 connections, worker at work';
const CPU_AT_WORK = `${SINGLE_AT_WORK}: CPU of web, worker and Redis per event`;

export function replacedTargetsTable({ costs, rows, machine: { cores } }: Results): string | undefined {
  const found = new Map(costs.map((cost) => [cost.key, cost]));
  const keys: Key[] = ['single', 'batch', 'webhook', 'ingest', 'single-at-work'];
  const perEvent = rows.find(({ work }) => work === CPU_AT_WORK);
  const [least] = perEvent?.references ?? [];
  if (!keys.every((key) => found.has(key)) || !perEvent || !least) return undefined;
  /** Microseconds of CPU time of a unit. */
  const microseconds = (key: Key, part?: 'web' | 'worker' | 'transforms' | 'redis'): number => {
    const cpu = found.get(key)?.cpu ?? { web: 0, worker: 0, transforms: 0, redis: 0 };
    return 1_000 * (part ? cpu[part] : cpu.web + cpu.worker + cpu.transforms + cpu.redis);
  };
  const text = (value: number) => `${formatNumber(value)} µs`;
  const [single, webhook, stored] = [microseconds('single'), microseconds('webhook'), microseconds('ingest')];
  const batched = microseconds('batch') + stored;
  const webhookParts = `web ${text(microseconds('webhook', 'web'))}, the process with its isolate ${text(microseconds('webhook', 'transforms'))}, Redis, which also keeps the request, ${text(microseconds('webhook', 'redis'))}`;
  return table(
    ['workload', 'target at first', 'target now', 'what the work takes'],
    [
      [
        'webhooks with a transform',
        '60 % of single events',
        '48 %',
        `${text(webhook)} of CPU (${webhookParts}), and a single event ${text(single)}: ${formatPercent(single / webhook)} where they share the CPUs of a machine`,
      ],
      ['webhooks verified, with a transform', '60 % of single events', '42 %', 'the same, and the signature'],
      [
        'webhooks with a transform, worker at work',
        '60 % of single events',
        '50 %',
        `each event also takes ${text(stored)} until it is stored: ${formatPercent((single + stored) / (webhook + stored))}`,
      ],
      [
        'batches of 100, worker at work: accepted',
        '60,000 events/s',
        '50,000 events/s',
        `${text(batched)} of CPU for an event: 60,000 a second take ${formatNumber((60_000 * batched) / 1e6)} CPUs, and the machine has ${cores}, which the sender shares`,
      ],
      [
        SINGLE_AT_WORK,
        '60 % of the echo',
        '50 %',
        `${text(perEvent.value)} of CPU for an event until it is stored, and ${text(least.value)} for the echo with bare pipelines: ${formatPercent(least.value / perEvent.value)} where they share the CPUs of a machine`,
      ],
      [
        'single events, worker at work: CPU per event',
        '1.7 × the echo and bare pipelines',
        '1.9 ×',
        `these lack the queue between web and worker, which takes most of what the worker (${text(microseconds('single-at-work', 'worker'))}) and Redis (${text(microseconds('single-at-work', 'redis'))}) do for an event`,
      ],
    ],
  );
}
