/** Runs archiver-program.ts on an archive of a test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { bundleProgram } from '../../scripts/lib/bundle.ts';
import type { OwnArchive } from './own-archive.ts';
import { redisSettings } from './redis.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PROGRAM = join(import.meta.dirname, 'archiver-program.ts');
/** A test starts it dozens of times: as one file it takes half of the CPU time. */
const BUNDLE = join(ROOT, 'dist/tests/archiver.js');
let bundled: Promise<void> | undefined;

/** @param args of the program
 *  @returns number of writes; undefined: it was killed */
export async function runArchiver({ settings, store }: OwnArchive, ...args: string[]): Promise<number | undefined> {
  const env = {
    PATH: process.env.PATH,
    SERVICE_TEST_RUN: process.env.SERVICE_TEST_RUN,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    ...redisSettings(),
    PARTITIONS: '1',
    MODE: 'dev',
    KEY_PREFIX: store.prefix,
    DATABASE_URL: settings.url,
    DATABASE_SCHEMA: settings.schema,
    HOT_HOURS: '1',
  };
  bundled ??= bundleProgram(ROOT, PROGRAM, BUNDLE);
  await bundled;
  const child = spawn(process.execPath, [BUNDLE, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (signal === 'SIGKILL') return undefined;
  expect(code, output).to.equal(0);
  return Number(output);
}
