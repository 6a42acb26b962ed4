/** Renders the blocks of docs/compare.md from the results of a comparison. */
import { formatNumber, table } from '../table.ts';
import { FUNCTION_NAMES, type FunctionName } from './functions.ts';
import { type Durability, type EngineResult, type LoadResult, PARTS, type PeerResults, SENDERS } from './results.ts';

/** Tidegate as other engines are compared with it: a step is on disk before the next one begins. */
const OWN = 'Tidegate, appendfsync always';
const IS_OWN = /^Tidegate/;
/** The senders of the table of CPU time. */
const BUSY_SENDERS = 32;
const TITLES: Record<FunctionName, string> = { plain: 'plain', three: 'three steps', ten: 'ten steps' };
const ON_DISK: Record<Durability, string> = {
  disk: 'before the next',
  second: 'a second or two later',
  checkpoint: 'after its checkpoint',
};
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
  const how = rounds === 1 ? `one round of ${seconds} s` : `medians of ${rounds} rounds of ${seconds} s`;
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
  const rates = SENDERS.flatMap((senders) => {
    const [ours, theirs] = [own, peer].map((engine) => loadOf(engine, name, senders)?.runsPerSecond);
    return ours && theirs && ours < theirs ? [`${formatNumber((100 * ours) / theirs)} % at ${senders}`] : [];
  });
  const more = (what: string, senders: number, value: (load: LoadResult) => number) => {
    const [ours, theirs] = [own, peer]
      .map((engine) => loadOf(engine, name, senders))
      .map((load) => load && value(load));
    return ours && theirs && ours > theirs ? [`${what} ${formatNumber(ours)} ms, not ${formatNumber(theirs)} ms`] : [];
  };
  const all = [
    ...(rates.length > 0 ? [`rate ${rates.join(', ')} senders`] : []),
    ...more('p50', 1, ({ p50Ms }) => p50Ms),
    ...more('p99', 1, ({ p99Ms }) => p99Ms),
    ...more('CPU', BUSY_SENDERS, cpuOf),
  ];
  return all.length > 0 ? [`${TITLES[name]}, beside ${peer.name}: ${all.join('; ')}`] : [];
}

/** The first table, which alone says the versions, and when a step is on disk. */
function ratesTable(results: PeerResults): string {
  const lines = results.engines.map((engine) => [
    `${engine.name} (${engine.version})`,
    ON_DISK[engine.durability],
    ...FUNCTION_NAMES.map((name) =>
      SENDERS.map((senders) => number(loadOf(engine, name, senders)?.runsPerSecond)).join(' / '),
    ),
  ]);
  const heads = FUNCTION_NAMES.map((name) => `${TITLES[name]}: runs/s at ${SENDERS.join(' / ')} senders`);
  return table(['engine', 'a step is on disk', ...heads], lines);
}

function latencyTable(results: PeerResults): string {
  return engineTable(results, 'p50 / p99', (engine, name) => {
    const load = loadOf(engine, name, 1);
    return `${number(load?.p50Ms)} / ${number(load?.p99Ms)} ms`;
  });
}

function cpuTable(results: PeerResults): string {
  return engineTable(results, `all (${PARTS.join(', ')})`, (engine, name) => {
    const load = loadOf(engine, name, BUSY_SENDERS);
    return `${number(load && cpuOf(load))} ms (${PARTS.map((part) => number(load?.cpuMs[part])).join(', ')})`;
  });
}

function engineTable(
  { engines }: PeerResults,
  figure: string,
  cell: (engine: EngineResult, name: FunctionName) => string,
): string {
  const lines = engines.map((engine) => [engine.name, ...FUNCTION_NAMES.map((name) => cell(engine, name))]);
  return table(['engine', ...FUNCTION_NAMES.map((name) => `${TITLES[name]}: ${figure}`)], lines);
}

function loadOf({ loads }: EngineResult, name: FunctionName, senders: number): LoadResult | undefined {
  return loads.find((load) => load.function === name && load.senders === senders);
}

function number(value: number | undefined): string {
  return value === undefined ? '–' : formatNumber(value);
}

/** CPU time of all parts, per run. */
function cpuOf({ cpuMs }: LoadResult): number {
  return PARTS.reduce((all, part) => all + cpuMs[part], 0);
}
