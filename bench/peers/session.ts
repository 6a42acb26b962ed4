/** What a measurement of one engine opens: folders, processes and servers, closed in reverse order. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../scripts/lib/ports.ts';
import type { BenchmarkRun } from '../benchmark-run.ts';
import { type BenchProcess, start } from '../processes.ts';

export class Session {
  readonly bench: BenchmarkRun;
  readonly #closers: (() => Promise<void> | void)[] = [];
  #closing: Promise<void> | undefined;

  constructor(bench: BenchmarkRun) {
    this.bench = bench;
  }

  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'tidegate-bench-peer-'));
    this.onClose(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }

  onClose(close: () => Promise<void> | void): void {
    this.#closers.push(close);
  }

  async startProcess(script: string, env: Record<string, string> = {}): Promise<BenchProcess> {
    const process = await start(script, { env, onLost: (error) => this.lost(error) });
    this.onClose(() => process.stop());
    return process;
  }

  /** @param name the file of the app in bench/peers/apps */
  async startApp(name: string, senderPort: number, env: Record<string, string>): Promise<BenchProcess> {
    const port = await freePort();
    return this.startProcess(`bench/peers/apps/${name}.ts`, {
      NODE_ENV: 'production',
      PORT: String(port),
      SENDER_PORT: String(senderPort),
      SERVICE_SERVE_ORIGIN: `http://127.0.0.1:${port}`,
      ...env,
    });
  }

  /** Ends the benchmark: a process of an engine has ended by itself. */
  lost(error: Error): void {
    if (!this.#closing) this.bench.abort(error);
  }

  /** Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) await close();
  }
}
