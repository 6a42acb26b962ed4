/** What a source file imports, in every way of writing it. */
import { lineAt, type Source } from './source.ts';

export interface Import {
  specifier: string;
  line: number;
}

/** Each ends at the opening quote. Type-only imports are imports too: a circle of types is a circle. */
const FORMS = [
  // import x, { y as z } from 'a'; import type … ; export { … } from 'a'; export * as x from 'a'
  /\b(?:import|export)\b(?=[\s{*\w$])[\w$\s{},*]*?\bfrom\s*(?=["'])/g,
  // import 'a'
  /\bimport\s*(?=["'])/g,
  // import('a'), also as a type; require('a'); import.meta.resolve('a')
  /\b(?:import|require|import\s*\.\s*meta\s*\.\s*resolve)\s*\(\s*(?=["'`])/g,
];

export function importsOf({ code, strings }: Source): Import[] {
  return FORMS.flatMap((form) => [...code.matchAll(form)])
    .map((match) => ({ line: lineAt(code, match.index), specifier: strings.get(match.index + match[0].length) }))
    .filter((found): found is Import => found.specifier !== undefined)
    .sort((a, b) => a.line - b.line);
}

/** `@koa/router` of `@koa/router/lib/layer.js`; undefined for a path or one of Node's own modules. */
export function packageOf(specifier: string): string | undefined {
  if (/^(\.|\/|node:|file:)/.test(specifier)) return undefined;
  return /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0];
}
