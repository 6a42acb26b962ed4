/** Renders the blocks of docs/compare.md from the results of a comparison. */
import { formatNumber, formatPercent, table } from '../table.ts';
import { FUNCTION_NAMES, type FunctionName } from './functions.ts';
import { type Durability, type EngineResult, type LoadResult, PARTS, type PeerResults, SENDERS } from './results.ts';

/** Tidegate as other engines are compared with it: a step is on disk before it counts. */
const OWN = 'Tidegate, appendfsync always';
const IS_OWN = /^Tidegate/;
/** The senders of the table of CPU time. */
const BUSY_SENDERS = 32;
const TITLES: Record<FunctionName, string> = { plain: 'plain', three: 'three steps', ten: 'ten steps' };
const COUNTS: Record<Durability, string> = { disk: 'on disk', second: 'up to 1 s before' };
const GB = 1e9;

type Block = (results: PeerResults) => string;
const BLOCKS: Record<string, Block> = { summary, rates: ratesTable, latencies: latencyTable, cpu: cpuTable };

/** @param block its name, as the marker has it
 *  @throws Error when there is no such block */
export function renderPeerBlock(block: string, results: PeerResults): string {
  const render = BLOCKS[block];
  if (!render) throw new Error(`Unknown block "${block}". Expected one of ${Object.keys(BLOCKS).join(', ')}`);
  return render(results);
}

export function tablesOf(results: PeerResults): string {
  return [ratesTable, latencyTable, cpuTable].map((render) => render(results)).join('\n\n');
}

/** Where and how it was measured, and where another engine is ahead. */
function summary(results: PeerResults): string {
  const { at, commit, note, machine, rounds, seconds } = results;
  const { cpu, cores, memoryBytes, node, redis } = machine;
  const where = `${cores} CPUs (${cpu}), ${formatNumber(memoryBytes / GB)} GB, Node ${node}, Redis ${redis}`;
  const how = `medians of ${rounds} round${rounds === 1 ? '' : 's'} of ${seconds} s`;
  const misses = missesOf(results).map((miss) => `- ${miss}`);
  const list = misses.length > 0 ? `Tidegate is behind:\n\n${misses.join('\n')}` : 'Tidegate is behind nowhere.';
  return `Measured ${at.slice(0, 10)} at commit ${commit} on ${where}; ${how}. ${list}${note ? `\n\n*${note}*` : ''}`;
}

function missesOf({ engines }: PeerResults): string[] {
  const own = engines.find(({ name }) => name === OWN);
  if (!own) return [];
  return engines
    .filter(({ name }) => !IS_OWN.test(name))
    .flatMap((peer) => FUNCTION_NAMES.flatMap((name) => missOf(name, own, peer)));
}

/** How far Tidegate is behind with one function; empty when it is not. */
function missOf(name: FunctionName, own: EngineResult, peer: EngineResult): string[] {
  const pairs = SENDERS.map((senders) => [loadOf(own, name, senders), loadOf(peer, name, senders)] as const);
  const rates = pairs.flatMap(([ours, theirs], i) => {
    if (!ours || !theirs || ours.runsPerSecond >= theirs.runsPerSecond) return [];
    return `${formatPercent(ours.runsPerSecond / theirs.runsPerSecond)} of its rate at ${sendersText(SENDERS[i] as number)}`;
  });
  const latencies = (['p50Ms', 'p99Ms'] as const).flatMap((field) => {
    const [ours, theirs] = pairs[0]?.map((load) => load?.[field]) ?? [];
    if (!ours || !theirs || ours <= theirs) return [];
    return `${field.slice(0, 3)} ${formatNumber(ours)} ms, not ${formatNumber(theirs)} ms`;
  });
  const all = [...rates, ...latencies];
  return all.length > 0 ? [`${TITLES[name]}, beside ${peer.name}: ${all.join(', ')}`] : [];
}

function ratesTable(results: PeerResults): string {
  const heads = FUNCTION_NAMES.map((name) => `${TITLES[name]}: runs/s at ${SENDERS.join(' / ')} senders`);
  return engineTable(results, heads, (engine, name) =>
    SENDERS.map((senders) => number(loadOf(engine, name, senders)?.runsPerSecond)).join(' / '),
  );
}

function latencyTable(results: PeerResults): string {
  const heads = FUNCTION_NAMES.map((name) => `${TITLES[name]}: p50 / p99`);
  return engineTable(results, heads, (engine, name) => {
    const load = loadOf(engine, name, 1);
    return `${number(load?.p50Ms)} / ${number(load?.p99Ms)} ms`;
  });
}

function cpuTable(results: PeerResults): string {
  const heads = FUNCTION_NAMES.map((name) => `${TITLES[name]}: ${PARTS.join(' + ')}`);
  return engineTable(results, heads, (engine, name) => {
    const load = loadOf(engine, name, BUSY_SENDERS);
    const sum = load && PARTS.reduce((all, part) => all + load.cpuMs[part], 0);
    return `${PARTS.map((part) => number(load?.cpuMs[part])).join(' + ')} = ${number(sum)} ms`;
  });
}

function engineTable(
  { engines }: PeerResults,
  heads: readonly string[],
  cell: (engine: EngineResult, name: FunctionName) => string,
): string {
  const lines = engines.map((engine) => [
    `${engine.name} (${engine.version})`,
    COUNTS[engine.durability],
    ...FUNCTION_NAMES.map((name) => cell(engine, name)),
  ]);
  return table(['engine', 'a step counts', ...heads], lines);
}

function loadOf({ loads }: EngineResult, name: FunctionName, senders: number): LoadResult | undefined {
  return loads.find((load) => load.function === name && load.senders === senders);
}

function number(value: number | undefined): string {
  return value === undefined ? '–' : formatNumber(value);
}

function sendersText(senders: number): string {
  return senders === 1 ? 'one sender' : `${senders} senders`;
}
