/** The tables of duties in docs/internals.md, between two markers each:
 *
 *      <!-- duties: worker -->
 *      …
 *      <!-- end -->
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { DUTIES } from '../../src/composition/duties.ts';
import type { Duty } from '../../src/duties/duty.ts';

const PAGE = resolve(import.meta.dirname, '../../docs/internals.md');
const MARKED = /<!-- duties: (\w+) -->\n[\s\S]*?<!-- end -->/g;
const HEAD = ['| Duty | What it does | For each | Every | Lease |', '|---|---|---|---|---|'];

export function internalsPage(): string {
  return readFileSync(PAGE, 'utf8').replace(MARKED, (_, group: string) => {
    const duties: readonly Duty<never>[] | undefined = DUTIES[group as keyof typeof DUTIES];
    if (!duties) throw new Error(`docs/internals.md: there are no duties of ${group} in src/composition/duties.ts`);
    return `<!-- duties: ${group} -->\n${[...HEAD, ...duties.map(row)].join('\n')}\n<!-- end -->`;
  });
}

function row({ name, about, scope, everyMs, leaseMs }: Duty<never>): string {
  const every = typeof everyMs === 'number' ? inWords(everyMs) : everyMs.inWords;
  return `| \`${name}\` | ${about} | ${scope} | ${every} | ${leaseMs === undefined ? '' : inWords(leaseMs)} |`;
}

function inWords(ms: number): string {
  if (ms >= 3_600_000) return `${ms / 3_600_000} h`;
  return ms >= 60_000 ? `${ms / 60_000} min` : `${ms / 1_000} s`;
}
