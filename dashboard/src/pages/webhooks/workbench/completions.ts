/** Completions for a transform: its arguments, all paths in the sample, and the functions available in addition to the language. */
import { canonicalName, parsedBody, parseQuery, type Sample } from './sample.ts';

export interface Completion {
  label: string;
  type: string;
  detail: string;
}

/** A payload may have thousands of fields. */
const MAX_PATHS = 1_500;
const MAX_DEPTH = 8;
const DETAIL_CHARS = 32;
const ARGUMENTS = ['evt', 'headers', 'queryParams', 'raw'] as const;
/** docs/transforms.md#functions-of-a-transform */
const FUNCTIONS: readonly (readonly [label: string, detail: string])[] = [
  ['crypto.createHmac', '(algorithm, key)'],
  ['crypto.createHash', '(algorithm)'],
  ['crypto.timingSafeEqual', '(a, b)'],
  ['crypto.randomUUID', '()'],
  ['URL', 'new URL(url, base)'],
  ['URLSearchParams', 'new URLSearchParams(query)'],
  ['TextEncoder', 'text to UTF-8'],
  ['TextDecoder', 'UTF-8 to text'],
  ['Uint8Array.fromBase64', '(text)'],
  ['Uint8Array.fromHex', '(text)'],
  ['atob', 'base64 to text'],
  ['btoa', 'text to base64'],
  ['structuredClone', '(value)'],
];
const PARAMETERS = /function\s+transform\s*\(([^)]*)\)|transform\s*=\s*(?:async\s*)?(?:function\s*\w*\s*)?\(([^)]*)\)/;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

export function completionsFor(code: string, sample: Sample): Completion[] {
  const [evt, headers, queryParams, raw] = argumentNames(code);
  const canonical = Object.fromEntries(
    Object.entries(sample.headers).map(([key, value]) => [canonicalName(key), value]),
  );
  return [
    { label: evt, type: 'variable', detail: 'the body, parsed' },
    { label: headers, type: 'variable', detail: 'by canonical name' },
    { label: queryParams, type: 'variable', detail: 'values are lists' },
    { label: raw, type: 'variable', detail: 'the body as text' },
    ...FUNCTIONS.map(([label, detail]) => ({ label, type: 'function', detail })),
    ...pathsOf(headers, canonical),
    ...pathsOf(queryParams, parseQuery(sample.query)),
    ...pathsOf(evt, parsedBody(sample)),
  ];
}

/** Parameter names in the code; missing parameters have default names. */
function argumentNames(code: string): [string, string, string, string] {
  const [, plain, assigned] = PARAMETERS.exec(code) ?? [];
  const given = (plain ?? assigned ?? '').split(',').map((parameter) => parameter.split('=', 1)[0]?.trim() ?? '');
  return ARGUMENTS.map((usual, at) => (IDENTIFIER.test(given[at] ?? '') ? (given[at] as string) : usual)) as [
    string,
    string,
    string,
    string,
  ];
}

/** Breadth first, so that the limit drops the deepest paths. Lists are represented by their first entry. */
export function pathsOf(root: string, value: unknown): Completion[] {
  const found: Completion[] = [];
  let level: [path: string, value: unknown][] = [[root, value]];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0 && found.length < MAX_PATHS; depth++) {
    const next = level.flatMap(([path, one]) => children(path, one));
    found.push(...next.map(([label, one]) => ({ label, type: 'property', detail: brief(one) })));
    level = next;
  }
  return found.slice(0, MAX_PATHS);
}

function children(path: string, value: unknown): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.length === 0 ? [] : [[`${path}[0]`, value[0]]];
  return Object.entries(value).map(([key, one]) => [
    IDENTIFIER.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`,
    one,
  ]);
}

function brief(value: unknown): string {
  if (Array.isArray(value)) return `list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'object';
  const text = JSON.stringify(value) ?? '';
  return text.length > DETAIL_CHARS ? `${text.slice(0, DETAIL_CHARS)}…` : text;
}
