/** Renders the blocks of the documents, each between two markers, from results. */
import { archiveBytesTable, archiveSizesTable, compressionTable } from './archive-sizing.ts';
import { chartsOf } from './charts/charts.ts';
import { clusterTable } from './cluster-table.ts';
import { replacedTargetsTable } from './replaced-targets.ts';
import type { Results } from './results.ts';
import { GROUPS, type Group, meetsTargets, type Row } from './row.ts';
import { BUSY, clusterFactor, type Load, maxRateOfOneRedis, type Size, sizeOf, storedBytes } from './sizing.ts';
import { costTableOf, formatNumber, formatPercent, table, tableOf } from './table.ts';

const CHART_FOLDER = 'pictures/performance';
const NO_DATA = '*These results have no such figures. Run `scripts/bench` to measure them.*';
const RATES = [1_000, 10_000, 100_000, 1_000_000];
const STORED_RATE = 1_000;
const DAYS = [1, 3, 7];
const GB = 1e9;

/** The loads of docs/scaling.md, each at all rates. */
const LOADS: Record<string, Omit<Load, 'eventsPerSecond'>> = {
  'single, stored': { source: 'single', runsPerEvent: 0, stepsPerRun: 0 },
  'in batches of 100, stored': { source: 'batch', runsPerEvent: 0, stepsPerRun: 0 },
  'webhooks, one plain run each': { source: 'webhook', runsPerEvent: 1, stepsPerRun: 0 },
  'single, one plain run each': { source: 'single', runsPerEvent: 1, stepsPerRun: 0 },
  'in batches of 100, one plain run each': { source: 'batch', runsPerEvent: 1, stepsPerRun: 0 },
  'single, one run of three steps each': { source: 'single', runsPerEvent: 1, stepsPerRun: 3 },
};

/** @param block its name and argument, as the marker has them: `table runs`
 *  @throws Error when there is no such block */
export function renderBlock(block: string, results: Results): string {
  const [name = '', argument = ''] = block.split(' ');
  switch (name) {
    case 'summary':
      return summary(results);
    case 'table':
      return groupTable(argument, results);
    case 'picture':
      return picture(argument, results);
    case 'cluster':
      return clusterTable(results.rows) ?? NO_DATA;
    case 'costs':
      return results.costs.length > 0 ? costTableOf(results.costs) : NO_DATA;
    case 'bytes':
      return bytesTable(results);
    case 'sizes':
      return sizesTable(results);
    case 'one-redis':
      return oneRedisTable(results);
    case 'stored':
      return storedTable(results);
    case 'replaced-targets':
      return replacedTargetsTable(results) ?? NO_DATA;
    case 'archive-bytes':
      return archiveBytesTable(results);
    case 'archive-sizes':
      return archiveSizesTable(results);
    case 'compression':
      return compressionTable(results);
    default:
      throw new Error(`Unknown block "${block}"`);
  }
}

function summary({ at, note, machine, rounds, seconds, rows }: Results): string {
  const wanted = rows.filter((row) => meetsTargets(row) !== undefined);
  const missed = wanted.filter((row) => !meetsTargets(row)).map((row) => `- ${row.work}${partsOf(row)}`);
  const { cpu, cores, memoryBytes, node, redis } = machine;
  const software = redis ? `Node ${node}, Redis ${redis}` : `Node ${node}`;
  const where = `${cores} CPUs (${cpu}), ${formatNumber(memoryBytes / GB)} GB, ${software}`;
  const how = `medians of ${rounds} rounds of ${seconds} s`;
  const summary = `**${wanted.length - missed.length} of ${wanted.length} targets are met**`;
  const missing = missed.length > 0 ? ` Missed:\n\n${missed.join('\n')}` : '';
  const targetText = note ? `\n\n*${note}*` : '';
  return `${summary}, measured ${at.slice(0, 10)} on ${where}; ${how}.${missing}${targetText}`;
}

/** What a missed value consists of, as far as it was measured. */
function partsOf({ parts = {}, unit }: Row): string {
  const texts = Object.entries(parts).map(([name, value]) => `${name} ${formatNumber(value)} ${unit}`);
  return texts.length > 0 ? ` (${texts.join('; ')})` : '';
}

function groupTable(group: string, { rows }: Results): string {
  if (!GROUPS.includes(group as Group))
    throw new Error(`Unknown group "${group}". Expected one of ${GROUPS.join(', ')}`);
  const shown = rows.filter((row) => row.group === group);
  return shown.length > 0 ? tableOf(shown) : NO_DATA;
}

function picture(name: string, results: Results): string {
  const drawn = chartsOf(results).get(name);
  if (drawn === undefined) return NO_DATA;
  const [, title = name] = /<title[^>]*>([^<]*)/.exec(drawn) ?? [];
  return `![${title}](${CHART_FOLDER}/${name}.svg)`;
}

function bytesTable({ bytes }: Results): string {
  if (!bytes) return NO_DATA;
  const { event, eventPayload, run } = bytes;
  return table(
    ['item', 'Redis memory', 'append-only file'],
    [
      [
        `an event with a payload of ${eventPayload} bytes`,
        `${formatNumber(event.memory)} bytes`,
        `${formatNumber(event.file)} bytes`,
      ],
      ['the same without its payload', `${formatNumber(event.memory - eventPayload)} bytes`, ''],
      ['a finished run', `${formatNumber(run.memory)} bytes`, `${formatNumber(run.file)} bytes`],
    ],
  );
}

/** A load takes the same cost of each event at any rate, so one table has all rates. */
function sizesTable({ costs, rows }: Results): string {
  const lines = Object.entries(LOADS).flatMap(([what, load]) => {
    const sizes = RATES.map((eventsPerSecond) => sizeOf({ ...load, eventsPerSecond }, costs, clusterFactor(rows)));
    const [least] = sizes;
    if (!least || !sizes.every((size) => size !== undefined)) return [];
    return [[what, `${formatNumber(least.networkBits / 1e6)} Mbit/s`, ...sizes.map(sizeCell)]];
  });
  const heads = RATES.map((rate) => `${rate.toLocaleString('en')}/s`);
  return lines.length > 0 ? table(['load', `network of Redis at ${heads[0]}`, ...heads], lines) : NO_DATA;
}

function sizeCell({ webs, workers, primaries, partitions }: Size): string {
  return `${webs} / ${workers} / ${primaries}${primaries === 1 ? '' : ` (${partitions})`}`;
}

function oneRedisTable({ costs }: Results): string {
  const lines = Object.entries(LOADS).flatMap(([what, load]) => {
    const most = maxRateOfOneRedis({ ...load, eventsPerSecond: 1 }, costs);
    return most === undefined ? [] : [[what, `${formatNumber(most)} events/s`]];
  });
  return lines.length > 0 ? table(['load', `maximum with one Redis, ${formatPercent(BUSY)} busy`], lines) : NO_DATA;
}

function storedTable({ bytes }: Results): string {
  if (!bytes) return NO_DATA;
  const lines = [0, 1].map((runsPerEvent) => {
    const load: Load = { eventsPerSecond: STORED_RATE, source: 'single', runsPerEvent, stepsPerRun: 0 };
    const what = `${STORED_RATE.toLocaleString('en')} events/s${runsPerEvent ? ', a run each' : ''}`;
    return [what, ...DAYS.map((days) => `${formatNumber(storedBytes(load, days, bytes) / GB)} GB`)];
  });
  return table(['average load', ...DAYS.map((days) => `kept ${days} day${days === 1 ? '' : 's'}`)], lines);
}
