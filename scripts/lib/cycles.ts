/** Circles among files that import one another. */
import { dirname, posix } from 'node:path';
import { importsOf } from './imports.ts';
import type { Violation } from './layers.ts';
import type { Source } from './source.ts';

/** One violation for each import that closes a circle.
 *  @param sources by path from the repository's root */
export function cyclesAmong(sources: ReadonlyMap<string, Source>): Violation[] {
  const violations: Violation[] = [];
  const done = new Set<string>();
  const path: string[] = [];

  function visit(file: string): void {
    path.push(file);
    for (const { specifier, line } of importsOf(sources.get(file) as Source)) {
      const target = specifier.startsWith('.') ? posix.join(dirname(file), specifier) : '';
      if (path.includes(target)) {
        const circle = [...path.slice(path.indexOf(target)), target].join(' → ');
        violations.push({
          file,
          line,
          what: `closes the circle ${circle}`,
          rule: 'files do not import each other in circles',
        });
      } else if (sources.has(target) && !done.has(target)) {
        visit(target);
      }
    }
    path.pop();
    done.add(file);
  }

  for (const file of sources.keys()) if (!done.has(file)) visit(file);
  return violations;
}
