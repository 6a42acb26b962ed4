/** Fills the blocks of docs/reliability.md, each between two markers, from a results file:
 *
 *      <!-- chaos/results/2026-11-28.json: counts -->
 *      …
 *      <!-- end -->
 *
 *  A page has results of each kind: of a single Redis, of a cluster, and of apps with a Postgres of their own. `node chaos/update-docs.ts [file]`
 *  uses the newest file of each by default. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { formatNumber, type Results, table } from './results.ts';

const ROOT = resolve(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'chaos/results');
export const PAGE = join(ROOT, 'docs/reliability.md');
/** Ends of the names of files. */
const KINDS = ['', '-cluster', '-exactly-once'] as const;
type Kind = (typeof KINDS)[number];
const MARKED = /<!-- (chaos\/results\/[\w.-]+\.json): (\w+) -->\n[\s\S]*?<!-- end -->/g;

/** What the page shows of the load; the results file has the rest. */
const SHOWN = [
  'orders',
  'events',
  'acknowledged events',
  'requests resent without an acknowledgement',
  'runs',
  'bookings',
  'steps run',
  'steps repeated because of a crash',
  'processes killed',
];

const BLOCKS: Record<string, (results: Results) => string> = {
  run: ({ command, at, minutes, languages, machine }) =>
    `\`${command}\`, ${at.slice(0, 10)}: ${formatNumber(minutes)} minutes, apps in ${listed(languages)}, on ${machine.cores} CPUs (${machine.cpu}), ` +
    `Node ${machine.node}, Redis ${machine.redis}.`,
  counts: ({ counts }) => {
    const clean = counts.filter(({ most, figure }) => most === 0 && figure === 0);
    return table([
      { name: `${clean.length} kinds of violations, each`, most: 0, figure: 0 },
      ...counts.filter((count) => !clean.includes(count)),
    ]);
  },
  load: ({ load, faults, left_out }) => {
    const injected = Object.values(faults);
    const all = injected.reduce((sum, times) => sum + times, 0);
    return [
      `${all} faults of ${injected.length} kinds. Load: ${figures(pick(load, SHOWN))}.`,
      ...left_out.map((why) => `Skipped: ${why}.`),
    ].join('\n\n');
  },
};

/** The results files that the page names: at most one of each kind.
 *  @throws Error when it names none, or several of a kind */
export function resultsFilesOf(page: string): string[] {
  const names = [...new Set([...page.matchAll(MARKED)].map(([, name]) => name as string))];
  if (names.length === 0 || new Set(names.map(kindOf)).size < names.length)
    throw new Error(`The page must name one results file of each kind; it names ${names.join(', ')}`);
  return names;
}

function kindOf(name: string): Kind {
  return KINDS.findLast((kind) => name.endsWith(`${kind}.json`)) as Kind;
}

/** Fills the blocks for results of the same kind.
 *  @param name of the results file, from the repository's root */
export function fillBlocks(page: string, name: string, results: Results): string {
  return page.replaceAll(MARKED, (all, before: string, block: string) => {
    if (kindOf(before) !== kindOf(name)) return all;
    const make = BLOCKS[block];
    if (!make) throw new Error(`Unknown block ${block}. Expected one of ${Object.keys(BLOCKS).join(', ')}`);
    return `<!-- ${name}: ${block} -->\n${make(results)}\n<!-- end -->`;
  });
}

export function readResults(name: string): Results {
  return JSON.parse(readFileSync(resolve(ROOT, name), 'utf8'));
}

/** Writes the results, and the page from them. @returns the file */
export function record(results: Results): string {
  const { command } = results;
  const kind: Kind = command.includes('--cluster') ? '-cluster' : isOfTransactions(command) ? '-exactly-once' : '';
  const file = join(FOLDER, `${results.at.slice(0, 10)}${kind}.json`);
  const kept = { ...results, counts: results.counts.map(({ findings: _, ...count }) => count) };
  writeFileSync(file, `${JSON.stringify(kept, undefined, 2)}\n`);
  fill(relative(ROOT, file));
  return file;
}

const isOfTransactions = (command: string) => / --only [^ ]*(outbox|transaction)/.test(command);

function fill(name: string): void {
  writeFileSync(PAGE, fillBlocks(readFileSync(PAGE, 'utf8'), name, readResults(name)));
}

function pick(amounts: Record<string, number>, names: readonly string[]): Record<string, number> {
  return Object.fromEntries(Object.entries(amounts).filter(([name]) => names.includes(name)));
}

function figures(amounts: Record<string, number>): string {
  return Object.entries(amounts)
    .map(([name, amount]) => `${formatNumber(amount)} ${name}`)
    .join(', ');
}

function listed(items: readonly string[]): string {
  return new Intl.ListFormat('en').format(items);
}

if (import.meta.main) {
  const files = readdirSync(FOLDER).sort();
  const newest = KINDS.map((kind) => files.findLast((file) => kindOf(file) === kind));
  const chosen = process.argv[2] ?? newest.flatMap((file) => (file ? join('chaos/results', file) : []));
  for (const file of [chosen].flat()) fill(relative(ROOT, resolve(file)));
}
