/** Examples of the pages in docs/: blocks of code, and the response to a request in one of them. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);
/** As the pages write it. */
const SERVICE = 'http://127.0.0.1:8288';

export interface Block {
  /** After the backticks: `json operation`. */
  info: string;
  code: string;
}

export function pageOf(name: string): string {
  return readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
}

export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```([^\n]+)\n([\s\S]*?)^```$/gm)].map(([, info = '', code = '']) => ({ info, code }));
}

export function jsonOf(blocks: readonly Block[], kind: string) {
  return blocks.filter(({ info }) => info === `json ${kind}`).map(({ code }) => JSON.parse(code));
}

/** Runs a block of the shell, with its one curl sent to the service.
 *  @param variables of the shell */
export async function runCurl(code: string, service: string, variables: Record<string, string>) {
  const script = `curl() { command curl --silent --write-out '\\n%{http_code}' "$@"; }\n${code.replaceAll(SERVICE, service)}`;
  const { stdout } = await run('sh', ['-c', script], { env: { ...process.env, ...variables } });
  const end = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(end + 1)), body: JSON.parse(stdout.slice(0, end)) };
}

/** A text that ends in "…" stands for any that begins so, and the duration 0 for any. */
export function expectLike(actual: unknown, shown: unknown, service: string, path = 'the response'): void {
  if (typeof shown === 'string' && shown.endsWith('…')) {
    const beginning = shown.slice(0, -1).replace(SERVICE, service);
    expect(actual, path).to.satisfy((text: unknown) => typeof text === 'string' && text.startsWith(beginning));
  } else if (path.endsWith('.duration_ms')) {
    expect(actual, path).to.be.a('number');
  } else if (typeof shown === 'object' && shown !== null) {
    expect(Object.keys(actual as object), path).to.have.members(Object.keys(shown));
    for (const [key, value] of Object.entries(shown)) {
      expectLike((actual as Record<string, unknown>)[key], value, service, `${path}.${key}`);
    }
  } else {
    expect(actual, path).to.equal(shown);
  }
}

/** The part of the response that the page shows. */
export function partOf(actual: unknown, shown: unknown): unknown {
  if (typeof shown !== 'object' || shown === null || typeof actual !== 'object' || actual === null) return actual;
  const fields = Object.entries(actual).filter(([key]) => Object.hasOwn(shown, key));
  return Object.fromEntries(
    fields.map(([key, value]) => [key, partOf(value, (shown as Record<string, unknown>)[key])]),
  );
}
