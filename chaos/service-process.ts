/** A web or worker process of the service that can be killed, terminated and started again. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
/** Where scripts/test has found bundles of what src/ is now, as a deployment has: a process of them starts with half of the CPU time. */
const BUNDLES = process.env.TEST_BUNDLES;
/** More than the promised maximum of a shutdown, to measure by how much it was exceeded. */
const KILL_AFTER_MS = 40_000;
const LINE_MAX = 500;
const SHOWN_CHARACTERS = 4_000;

export type Role = 'web' | 'worker';

/** How the processes ended so far. */
export interface Ends {
  kills: number;
  /** Seconds from SIGTERM to the exit. */
  terminations: number[];
  /** Unrequested exits, and exit codes other than 0 after SIGTERM. */
  unexpected: string[];
}

export class ServiceProcess {
  readonly role: Role;
  readonly name: string;
  readonly #env: Record<string, string>;
  readonly #ends: Ends;
  readonly #logs: string | undefined;
  #child: ChildProcess | undefined;
  #output = '';
  #port: number | undefined;
  #isEnding = false;
  #starting: Promise<void> = Promise.resolve();

  constructor(role: Role, index: number, env: Record<string, string>, ends: Ends, logs: string | undefined) {
    this.role = role;
    this.name = `${role} ${index + 1}`;
    this.#env = env;
    this.#ends = ends;
    this.#logs = logs;
  }

  /** The URL of a running web process. */
  get url(): string | undefined {
    return this.running && this.#port !== undefined ? `http://127.0.0.1:${this.#port}` : undefined;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves when the process is ready or has exited. */
  start(): Promise<void> {
    if (!this.running) this.#starting = this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    this.#isEnding = false;
    this.#port = undefined;
    // With compiled code a start costs half the CPU time.
    const { PATH, TMPDIR, NODE_COMPILE_CACHE } = process.env;
    const child = fork(BUNDLES ? resolve(BUNDLES, `${this.role}.js`) : resolve(ROOT, `src/${this.role}.ts`), {
      cwd: ROOT,
      env: { PATH, TMPDIR, NODE_COMPILE_CACHE, ...this.#env },
      execArgv: ['--import', resolve(ROOT, 'chaos/faults/stepped-clock.ts')],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text) => this.#keep(text));
    child.once('exit', (code, signal) => {
      if (child !== this.#child || this.#isEnding) return;
      const what = `${this.name} exited unexpectedly (${signal ?? `exit code ${code}`})`;
      // Only then all of its output has come.
      child.once('close', () => this.#ends.unexpected.push(`${what}: ${this.output()}`));
    });
    const exited = once(child, 'exit').then(() => undefined);
    const first = await Promise.race([once(child, 'message'), exited]);
    if (child === this.#child) this.#port = (first?.[0] as { port?: number } | undefined)?.port;
  }

  async kill(): Promise<void> {
    const child = this.#endingChild();
    if (!child) return;
    this.#ends.kills++;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  /** Waits until a starting process is ready: before that, an orderly shutdown is not promised. */
  async terminate(): Promise<void> {
    await this.#starting;
    const child = this.#endingChild();
    if (!child) return;
    const exited = once(child, 'exit');
    const startedAt = performance.now();
    child.kill('SIGTERM');
    const straggler = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
    await exited;
    clearTimeout(straggler);
    this.#ends.terminations.push((performance.now() - startedAt) / 1_000);
    if (child.exitCode === 0) return;
    this.#ends.unexpected.push(
      `${this.name} did not shut down in order after SIGTERM (${child.signalCode ?? `exit code ${child.exitCode}`}): ${this.output()}`,
    );
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal);
  }

  /** Sets its wall clock ahead (negative: behind). */
  stepClock(ms: number): void {
    if (this.#child?.connected) this.#child.send({ clockAheadMs: ms });
  }

  /** Its last lines. Node shows the line of an uncaught error, which in a bundle has 100,000 characters. */
  output(): string {
    const lines = this.#output.split('\n').map((line) => line.slice(0, LINE_MAX));
    return lines.join('\n').slice(-SHOWN_CHARACTERS);
  }

  #endingChild(): ChildProcess | undefined {
    if (!this.running) return undefined;
    this.#isEnding = true;
    return this.#child;
  }

  #keep(text: string): void {
    this.#output = (this.#output + text).slice(-2 * SHOWN_CHARACTERS);
    if (this.#logs) appendFileSync(join(this.#logs, `${this.name.replace(' ', '-')}.log`), text);
  }
}
