/** The test command: type check, lint, import layers, then mocha; stops at the first that fails. Started by scripts/test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { styleText } from 'node:util';
import { runMocha } from './lib/mocha.ts';
import { Problem, runMain } from './lib/problem.ts';

process.chdir(resolve(import.meta.dirname, '..'));
const mochaArgs = process.argv.slice(2);
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());

await runMain(async () => {
  if (mochaArgs.length === 0) {
    await step('type check', () => command('tsc'));
    await step('lint', () => command('biome', 'ci', ...(process.stdout.isTTY ? [] : ['--colors=off'])));
    await step('import layers', () => command('node', 'scripts/check-layers.ts'));
  }
  await step('tests', () => runMocha(mochaArgs, interruption.signal));
});
if (interruption.signal.aborted) process.exitCode = 130;

/** @throws Problem under a heading that names the step */
async function step(name: string, work: () => Promise<void>): Promise<void> {
  if (interruption.signal.aborted) return;
  console.log(styleText('bold', `── ${name}`));
  try {
    await work();
  } catch (error) {
    if (interruption.signal.aborted) throw new Problem(`interrupted: ${name}`);
    if (!(error instanceof Problem)) throw error;
    throw new Problem(`${styleText('red', `── FAILED: ${name}`)}\n${error.message}`);
  }
}

async function command(file: string, ...args: string[]): Promise<void> {
  const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  interruption.signal.onabort = () => child.kill('SIGTERM');
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Problem(`${[file, ...args].join(' ')} ended with ${signal ?? `exit code ${code}`}`);
}
