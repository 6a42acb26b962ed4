/** The tables of docs/inventory.md, between two markers each:
 *
 *      <!-- table: worker duties -->
 *      …
 *      <!-- end -->
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  CONNECTIONS,
  type ConnectionDeclaration,
  DUTIES,
  JOB_RETENTION,
  QUEUE_JOBS,
} from '../../src/composition/inventory.ts';
import type { Duty } from '../../src/duties/duty.ts';

const PAGE = resolve(import.meta.dirname, '../../docs/inventory.md');
const MARKED = /<!-- table: ([\w ]+) -->\n[\s\S]*?<!-- end -->/g;

const TABLES: Record<string, () => string[]> = {
  connections,
  queues,
  'duties of both': () => duties(DUTIES.both),
  'duties of web': () => duties(DUTIES.web),
  'duties of workers': () => duties(DUTIES.worker),
};

export function inventoryPage(): string {
  const page = readFileSync(PAGE, 'utf8');
  const absent = Object.keys(TABLES).filter((name) => !page.includes(`<!-- table: ${name} -->`));
  if (absent.length > 0) throw new Error(`docs/inventory.md has no table of: ${absent.join(', ')}`);
  return page.replace(MARKED, (_, name: string) => {
    const table = TABLES[name];
    if (!table) throw new Error(`docs/inventory.md: scripts/lib/inventory-docs.ts makes no table of ${name}`);
    return `<!-- table: ${name} -->\n${table().join('\n')}\n<!-- end -->`;
  });
}

function connections(): string[] {
  const declared: [string, ConnectionDeclaration][] = Object.entries(CONNECTIONS);
  return table(
    ['Connection', 'What for', 'Web', 'Worker'],
    declared.map(([name, { about, web = '', worker = '' }]) => [`\`${name}\``, about, web, worker]),
  );
}

function queues(): string[] {
  return table(
    ['Queue', 'Jobs', 'Failed jobs that are kept'],
    Object.entries(QUEUE_JOBS).map(([name, jobs]) => {
      const { count } = JOB_RETENTION[name as keyof typeof JOB_RETENTION].removeOnFail;
      return [`\`${name}\``, jobs, count < 0 ? 'all' : count.toLocaleString('en')];
    }),
  );
}

function duties(declared: readonly Duty<never>[]): string[] {
  return table(
    ['Duty', 'What it does', 'For each', 'Every', 'Lease'],
    declared.map(({ name, about, scope, everyMs, leaseMs }) => [
      `\`${name}\``,
      about,
      scope,
      typeof everyMs === 'number' ? inWords(everyMs) : everyMs.inWords,
      leaseMs === undefined ? '' : inWords(leaseMs),
    ]),
  );
}

function table(head: string[], rows: string[][]): string[] {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

function inWords(ms: number): string {
  if (ms >= 3_600_000) return `${ms / 3_600_000} h`;
  return ms >= 60_000 ? `${ms / 60_000} min` : `${ms / 1_000} s`;
}
