/** Documents with figures from a results file. Blocks between two markers are generated; the rest stays as it is.
 *
 *      <!-- bench/results/2026-11-21.json: table runs -->
 *      …
 *      <!-- end -->
 */
import { blockOf } from './blocks.ts';
import { picturesOf } from './plots/pictures.ts';
import type { Results } from './results.ts';

export const DOCUMENTS = ['docs/performance.md', 'docs/scaling.md'];
export const PICTURES = 'docs/pictures/performance';

const MARKED = /<!-- (bench\/results\/[\w.-]+\.json): ([\w -]+) -->\n[\s\S]*?<!-- end -->/g;

/** The results file that a document names. @throws Error when it names none, or several */
export function sourceOf(document: string): string {
  const names = new Set([...document.matchAll(MARKED)].map(([, name]) => name));
  const [name, ...more] = names;
  if (name === undefined || more.length > 0)
    throw new Error(`The document must name one results file; it names ${names.size}`);
  return name;
}

/** @param name of the results file, from the repository's root */
export function filled(document: string, name: string, results: Results): string {
  return document.replaceAll(MARKED, (_all, _name, block: string) => {
    return `<!-- ${name}: ${block} -->\n${blockOf(block, results)}\n<!-- end -->`;
  });
}

/** Files in PICTURES, by name. */
export function pictureFiles(results: Results): Map<string, string> {
  return new Map([...picturesOf(results)].map(([name, drawn]) => [`${name}.svg`, drawn]));
}
