import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseSync } from '@swc/core';
import { checkSync } from 'recheck';

const ROOT = resolve(import.meta.dirname, '../..');
/** Deterministic settings: `checker: auto` depends on the pattern only, and limits count steps, not time. */
const PARAMS = { timeout: 20_000, randomSeed: 1 } as const;
/** The patterns that were safe the last time: the same version with the same settings says the same. Safe to delete. */
const CACHE = resolve(ROOT, 'node_modules/.cache/tidegate-patterns.json');
const CHECKER = JSON.stringify([readFileSync(resolve(ROOT, 'node_modules/recheck/package.json'), 'utf8'), PARAMS]);
/** Without the cache it computes all the time, for minutes on a busy machine. */
const LONG_MS = 600_000;

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

describe('Regular expressions of src/', () => {
  let backend: string | undefined;
  before(() => {
    // In this process: the faster modes leave a child process behind.
    backend = process.env.RECHECK_SYNC_BACKEND;
    process.env.RECHECK_SYNC_BACKEND = 'pure';
  });
  after(() => {
    if (backend === undefined) delete process.env.RECHECK_SYNC_BACKEND;
    else process.env.RECHECK_SYNC_BACKEND = backend;
  });

  it('match any text in linear time', () => {
    const slow: string[] = [];
    const safe = readSafe();
    const checked = new Map<string, string | undefined>();
    for (const file of globSync('src/**/*.ts', { cwd: ROOT }).sort()) {
      for (const pattern of patternsIn(readFileSync(resolve(ROOT, file), 'utf8'))) {
        if (pattern in BOUNDED) continue;
        if (!checked.has(pattern)) checked.set(pattern, safe.has(pattern) ? undefined : attackOn(pattern));
        const attack = checked.get(pattern);
        if (attack) slow.push(`${file} ${pattern}: ${attack}`);
      }
    }
    writeSafe([...checked].filter(([, attack]) => !attack).map(([pattern]) => pattern));
    if (slow.length > 0) throw new Error(`Each of these goes back and forth:\n  ${slow.join('\n  ')}`);
  }).timeout(LONG_MS);
});

function readSafe(): Set<string> {
  if (!existsSync(CACHE)) return new Set();
  const { checker, safe } = JSON.parse(readFileSync(CACHE, 'utf8'));
  return new Set(checker === CHECKER ? safe : []);
}

function writeSafe(safe: string[]): void {
  mkdirSync(dirname(CACHE), { recursive: true });
  writeFileSync(CACHE, JSON.stringify({ checker: CHECKER, safe }));
}

/** Each regular expression of a source file, with slashes and flags. */
function patternsIn(source: string): string[] {
  const found: string[] = [];
  JSON.stringify(parseSync(source, { syntax: 'typescript', target: 'es2024' }), (_key, node) => {
    if (node?.type === 'RegExpLiteral') found.push(`/${node.pattern}/${node.flags}`);
    return node;
  });
  return found;
}

/** @returns how it is made to take its time; undefined: it takes none */
function attackOn(pattern: string): string | undefined {
  const end = pattern.lastIndexOf('/');
  const found = checkSync(pattern.slice(1, end), pattern.slice(end + 1), PARAMS);
  if (found.status === 'safe') return undefined;
  if (found.status === 'unknown') return `unknown (${found.error?.kind})`;
  return `${found.complexity?.summary}, by ${found.attack?.pattern.slice(0, 120)}`;
}
