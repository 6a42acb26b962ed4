/** Documents with figures from a results file. Blocks between two markers are generated; the rest stays as it is.
 *
 *      <!-- bench/results/2026-11-21.json: table runs -->
 *      …
 *      <!-- end -->
 */

import { chartsOf } from './charts/charts.ts';
import type { Results } from './results.ts';

export const DOCUMENTS = [
  'docs/performance.md',
  'docs/scaling.md',
  'docs/exactly-once.md',
  'docs/change-code-safely.md',
];
/** From a results file of `scripts/bench --peers`. */
export const PEER_DOCUMENT = 'docs/compare.md';
export const CHART_FOLDER = 'docs/pictures/performance';

const MARKED = /<!-- (bench\/results\/[\w.-]+\.json): ([\w -]+) -->\n[\s\S]*?<!-- end -->/g;

/** The results file that a document names. @throws Error unless it names exactly one */
export function resultsFileOf(document: string): string {
  const names = new Set([...document.matchAll(MARKED)].map(([, name]) => name));
  const [name, ...more] = names;
  if (name === undefined || more.length > 0)
    throw new Error(`The document must name one results file; it names ${names.size}`);
  return name;
}

/** Renders all blocks of a document. @param name path of the results file in the repository */
export function fillBlocks(document: string, name: string, render: (block: string) => string): string {
  return document.replaceAll(MARKED, (_all, _name, block: string) => {
    return `<!-- ${name}: ${block} -->\n${render(block)}\n<!-- end -->`;
  });
}

/** The SVG files of CHART_FOLDER, by name. */
export function chartFiles(results: Results): Map<string, string> {
  return new Map([...chartsOf(results)].map(([name, drawn]) => [`${name}.svg`, drawn]));
}
