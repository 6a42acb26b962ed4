/** An app with a Postgres of its own, in each language. */
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../../scripts/lib/ports.ts';
import { Problem } from '../../scripts/lib/problem.ts';
import { buildGo } from '../../test/support/go.ts';
import { type HostProgram, startHost } from '../../test/support/program.ts';
import { installPython } from '../../test/support/python.ts';
import type { PostgresServer } from '../postgres.ts';
import { SECRETS, type Service } from '../service.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const REGISTERED_WITHIN_MS = 60_000;

interface Program {
  file: string;
  args: string[];
  env?: Record<string, string>;
}

/** @throws Problem for an unknown language; Error for one that is not installed */
export async function programOf(language: string): Promise<Program> {
  switch (language) {
    case 'typescript':
      return { file: process.execPath, args: [join(import.meta.dirname, 'app.ts')] };
    case 'python': {
      const bin = await installPython('python-client', join(ROOT, 'clients/python/requirements-dev.txt'));
      const env = { PYTHONPATH: join(ROOT, 'clients/python/src') };
      return { file: join(bin, 'python'), args: [join(import.meta.dirname, 'app.py')], env };
    }
    case 'go':
      return { file: await buildGo('chaos-outbox', './outbox', join(ROOT, 'chaos/apps/go')), args: [] };
    default:
      throw new Problem(`--languages: got "${language}"; expected typescript, python or go`);
  }
}

/** With a database, an event and a function of its own. */
export class App {
  readonly language: string;
  readonly database: string;
  readonly event: string;
  readonly functionId: string;
  readonly #id: string;
  readonly #program: Program;
  readonly #service: Service;
  #port = '';
  #host: HostProgram | undefined;

  constructor(
    language: string,
    program: Program,
    { service, postgres }: { service: Service; postgres: PostgresServer },
  ) {
    this.language = language;
    this.database = Object.assign(new URL(postgres.url), { pathname: `/${language}` }).href;
    this.event = `chaos/order-${language}`;
    this.#id = `chaos-exactly-once-${language}`;
    this.functionId = `${this.#id}-booked`;
    this.#program = program;
    this.#service = service;
  }

  async start(env: Record<string, string>): Promise<void> {
    await this.stop();
    this.#port ||= String(await freePort());
    this.#host = await startHost(this.#program.file, this.#program.args, {
      cwd: ROOT,
      env: {
        PORT: this.#port,
        APP_ID: this.#id,
        APP_DATABASE_URL: this.database,
        ORDER_EVENT: this.event,
        SERVICE_BASE_URL: this.#service.balancedUrl,
        SERVICE_SERVE_ORIGIN: `http://127.0.0.1:${this.#port}`,
        SERVICE_SIGNING_KEY: SECRETS.SIGNING_KEY,
        SERVICE_EVENT_KEY: SECRETS.EVENT_KEYS,
        ...this.#program.env,
        ...env,
      },
    });
  }

  async register(): Promise<void> {
    const deadline = performance.now() + REGISTERED_WITHIN_MS;
    for (;;) {
      const response = await fetch(this.#host?.url ?? '', { method: 'PUT' });
      if (response.ok) return;
      if (performance.now() > deadline) throw new Error(`The app could not register: ${await response.text()}`);
      await setTimeout(200);
    }
  }

  /** @returns whether it has died by itself */
  async died(withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs;
    while (performance.now() < deadline) {
      if (!isAlive(this.#host?.pid ?? 0)) return true;
      await setTimeout(50);
    }
    return false;
  }

  async stop(): Promise<void> {
    const host = this.#host;
    this.#host = undefined;
    await host?.kill();
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
