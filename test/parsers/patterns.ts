/** The regular expressions of src/, and those that a check has found safe. After a change of one:
 *
 *      node test/parsers/patterns.ts
 *
 *  checks what is new, and updates the list in safe-patterns.txt. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseSync } from '@swc/core';
import { checkSync } from 'recheck';

const ROOT = resolve(import.meta.dirname, '../..');
/** Deterministic settings: `checker: auto` depends on the pattern only, and limits count steps. Those of time would call patterns slow on a busy machine. */
const PARAMS = {
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
  randomSeed: 1,
} as const;
/** A line has a pattern after the hash of the pattern and of what has checked it: another version checks all of them again. */
const LIST = resolve(import.meta.dirname, 'safe-patterns.txt');
const CHECKER = JSON.stringify([
  JSON.parse(readFileSync(resolve(ROOT, 'node_modules/recheck/package.json'), 'utf8')).version,
  PARAMS,
]);

/** Exceptions whose input other code bounds, as the reason says. */
const BOUNDED: Record<string, string> = {
  '/<link href="https:[^>]*>/': "reads Bull Board's own page, which holds nothing that came from outside",
  '/\\/+$/': 'reads the setting PUBLIC_URL, once',
  '/\\\\(?:[pP]\\{[^}]*\\}|x\\{[^}]*\\}|.)|\\[\\^?\\]?(?:\\\\.|\\[:[^\\]]*:\\]|[^\\]\\\\])*\\]|\\{(\\d+)(,?)(\\d*)\\}|./gsu':
    'reads patterns of at most 256 characters',
  '/\\bprototype\\s{0,9}(\\.\\s{0,9}[\\w$]{1,99}|\\[[^\\]]{0,99}\\])\\s{0,9}=[^=]|\\bassign\\s{0,9}\\(\\s{0,9}[\\w$.]{1,99}\\.prototype\\b|defineProperty|__proto__/':
    'runs in the child of transforms, which is killed when it takes too long; each repetition is bounded',
  '/(\\d+(?:\\.\\d+)?)(ns|us|ms|s|m|h|d|w)/g':
    'reads what the whole pattern before it has let through: each run of digits ends with a unit',
};

/** @returns each pattern, with slashes and flags, that is no exception, with the files that have it */
export function readPatterns(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of globSync('src/**/*.ts', { cwd: ROOT }).sort()) {
    for (const pattern of patternsIn(readFileSync(resolve(ROOT, file), 'utf8'))) {
      if (!(pattern in BOUNDED)) found.set(pattern, [...(found.get(pattern) ?? []), file]);
    }
  }
  return found;
}

function patternsIn(source: string): string[] {
  const found: string[] = [];
  JSON.stringify(parseSync(source, { syntax: 'typescript', target: 'es2024' }), (_key, node) => {
    if (node?.type === 'RegExpLiteral') found.push(`/${node.pattern}/${node.flags}`);
    return node;
  });
  return found;
}

/** @returns the patterns of the list, and whether this version has found them safe */
export function readList(): Map<string, boolean> {
  const lines = readFileSync(LIST, 'utf8').trimEnd().split('\n');
  return new Map(
    lines.map((line) => {
      const pattern = line.slice(line.indexOf(' ') + 1);
      return [pattern, line === lineOf(pattern)];
    }),
  );
}

function lineOf(pattern: string): string {
  return `${createHash('sha256').update(`${CHECKER} ${pattern}`).digest('hex').slice(0, 16)} ${pattern}`;
}

/** @returns how each pattern that takes its time is made to take it */
export function attacksOn(patterns: Iterable<string>): Map<string, string> {
  // In this process: the faster modes leave a child process behind.
  const backend = process.env.RECHECK_SYNC_BACKEND;
  process.env.RECHECK_SYNC_BACKEND = 'pure';
  try {
    return new Map([...patterns].flatMap((pattern) => attackOn(pattern).map((attack) => [pattern, attack])));
  } finally {
    if (backend === undefined) delete process.env.RECHECK_SYNC_BACKEND;
    else process.env.RECHECK_SYNC_BACKEND = backend;
  }
}

function attackOn(pattern: string): string[] {
  const end = pattern.lastIndexOf('/');
  const found = checkSync(pattern.slice(1, end), pattern.slice(end + 1), PARAMS);
  if (found.status === 'safe') return [];
  if (found.status === 'unknown') return [`unknown (${found.error?.kind})`];
  return [`${found.complexity?.summary}, by ${found.attack?.pattern.slice(0, 120)}`];
}

if (import.meta.main) {
  const patterns = [...readPatterns().keys()];
  const known = readList();
  const attacks = attacksOn(patterns.filter((pattern) => !known.get(pattern)));
  for (const [pattern, attack] of attacks) console.error(`${pattern}: ${attack}`);
  if (attacks.size > 0) process.exitCode = 1;
  const safe = patterns.filter((pattern) => !attacks.has(pattern)).sort();
  writeFileSync(LIST, `${safe.map(lineOf).join('\n')}\n`);
}
