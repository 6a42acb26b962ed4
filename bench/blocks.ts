/** Renders the blocks of the documents, each between two markers, from results. */
import { picturesOf } from './plots/pictures.ts';
import type { Results } from './results.ts';
import { GROUPS, type Group, isReached } from './row.ts';
import { BUSY, type Load, mostOfOneRedis, type Size, sizeOf, storedBytes } from './sizing.ts';
import { costTableOf, percent, rounded, table, tableOf } from './table.ts';

const PICTURES = 'pictures/performance';
const ABSENT = '*These results have no such figures. Run `scripts/bench` to measure them.*';
const RATES = [1_000, 10_000, 100_000];
const DAYS = [1, 3, 7];
const GB = 1e9;

/** The loads of docs/scaling.md, each at all rates. */
const LOADS: Record<string, Omit<Load, 'eventsPerSecond'>> = {
  'single, stored': { arrival: 'single', runsPerEvent: 0, stepsPerRun: 0 },
  'in batches of 100, stored': { arrival: 'batch', runsPerEvent: 0, stepsPerRun: 0 },
  'webhooks, one plain run each': { arrival: 'webhook', runsPerEvent: 1, stepsPerRun: 0 },
  'single, one plain run each': { arrival: 'single', runsPerEvent: 1, stepsPerRun: 0 },
  'in batches of 100, one plain run each': { arrival: 'batch', runsPerEvent: 1, stepsPerRun: 0 },
  'single, one run of three steps each': { arrival: 'single', runsPerEvent: 1, stepsPerRun: 3 },
};

/** @param block its name and argument, as the marker has them: `table runs`
 *  @throws Error when there is no such block */
export function blockOf(block: string, results: Results): string {
  const [name = '', argument = ''] = block.split(' ');
  switch (name) {
    case 'summary':
      return summary(results);
    case 'table':
      return groupTable(argument, results);
    case 'picture':
      return picture(argument, results);
    case 'costs':
      return results.costs.length > 0 ? costTableOf(results.costs) : ABSENT;
    case 'bytes':
      return bytesTable(results);
    case 'sizes':
      return sizes(Number(argument), results);
    case 'one-redis':
      return oneRedis(results);
    case 'stored':
      return stored(results);
    default:
      throw new Error(`Unknown block "${block}"`);
  }
}

function summary({ at, note, machine, rounds, seconds, rows }: Results): string {
  const wanted = rows.filter((row) => isReached(row) !== undefined);
  const missed = wanted.filter((row) => !isReached(row)).map(({ work }) => `- ${work}`);
  const { cpu, cores, memoryBytes, node, redis } = machine;
  const software = redis ? `Node ${node}, Redis ${redis}` : `Node ${node}`;
  const where = `${cores} CPUs (${cpu}), ${rounded(memoryBytes / GB)} GB, ${software}`;
  const how = `medians of ${rounds} rounds of ${seconds} s`;
  const verdict = `**${wanted.length - missed.length} of ${wanted.length} targets are met**`;
  const missing = missed.length > 0 ? ` Missed:\n\n${missed.join('\n')}` : '';
  const told = note ? `\n\n*${note}*` : '';
  return `${verdict}, measured ${at.slice(0, 10)} on ${where}; ${how}.${missing}${told}`;
}

function groupTable(group: string, { rows }: Results): string {
  if (!GROUPS.includes(group as Group))
    throw new Error(`Unknown group "${group}". Expected one of ${GROUPS.join(', ')}`);
  const shown = rows.filter((row) => row.group === group);
  return shown.length > 0 ? tableOf(shown) : ABSENT;
}

function picture(name: string, results: Results): string {
  const drawn = picturesOf(results).get(name);
  if (drawn === undefined) return ABSENT;
  const [, title = name] = /<title[^>]*>([^<]*)/.exec(drawn) ?? [];
  return `![${title}](${PICTURES}/${name}.svg)`;
}

function bytesTable({ bytes }: Results): string {
  if (!bytes) return ABSENT;
  const { event, eventPayload, run } = bytes;
  return table(
    ['item', 'Redis memory', 'append-only file'],
    [
      [
        `an event with a payload of ${eventPayload} bytes`,
        `${rounded(event.memory)} bytes`,
        `${rounded(event.file)} bytes`,
      ],
      ['the same without its payload', `${rounded(event.memory - eventPayload)} bytes`, ''],
      ['a finished run', `${rounded(run.memory)} bytes`, `${rounded(run.file)} bytes`],
    ],
  );
}

function sizes(eventsPerSecond: number, { costs }: Results): string {
  const lines = Object.entries(LOADS).flatMap(([what, load]) => {
    const size = sizeOf({ ...load, eventsPerSecond }, costs);
    return size ? [lineOf(what, size)] : [];
  });
  const heads = [
    'load',
    'web: processes (CPUs busy)',
    'transform children: CPUs busy',
    'worker: processes (CPUs busy)',
  ];
  return lines.length > 0 ? table([...heads, 'Redis: CPUs busy', 'to and from Redis', 'installations'], lines) : ABSENT;
}

function lineOf(what: string, { busy, webs, workers, installations, networkBits }: Size): string[] {
  const two = (value: number) => value.toFixed(2);
  return [
    what,
    `${webs} (${two(busy.web)})`,
    two(busy.transforms),
    `${workers} (${two(busy.worker)})`,
    two(busy.redis),
    `${rounded(networkBits / 1e6)} Mbit/s`,
    String(installations),
  ];
}

function oneRedis({ costs }: Results): string {
  const lines = Object.entries(LOADS).flatMap(([what, load]) => {
    const most = mostOfOneRedis({ ...load, eventsPerSecond: 1 }, costs);
    return most === undefined ? [] : [[what, `${rounded(most)} events/s`]];
  });
  return lines.length > 0 ? table(['load', `maximum with one Redis, ${percent(BUSY)} busy`], lines) : ABSENT;
}

function stored({ bytes }: Results): string {
  if (!bytes) return ABSENT;
  const lines = [100, ...RATES].flatMap((eventsPerSecond) =>
    [0, 1].map((runsPerEvent) => {
      const load: Load = { eventsPerSecond, arrival: 'single', runsPerEvent, stepsPerRun: 0 };
      const what = `${eventsPerSecond.toLocaleString('en')} events/s${runsPerEvent ? ', a run each' : ''}`;
      return [what, ...DAYS.map((days) => `${rounded(storedBytes(load, days, bytes) / GB)} GB`)];
    }),
  );
  return table(['average load', ...DAYS.map((days) => `kept ${days} day${days === 1 ? '' : 's'}`)], lines);
}
