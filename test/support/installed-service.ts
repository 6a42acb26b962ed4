/** The package of the service, installed in a project, at work. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { request } from './http.ts';
import { must } from './program.ts';
import { until } from './until.ts';

const BIN = 'node_modules/.bin/tidegate-service';

/** Starts web and worker by the bin, sends a request to a webhook, and expects the event of its transform. */
export async function runInstalled(project: string, redisUrl: string): Promise<void> {
  const settings = { REDIS_URL: redisUrl, MODE: 'dev', PORT: '0', SHUTDOWN_DRAIN_SECONDS: '0', LOG_LEVEL: 'warn' };
  const env = { ...process.env, ...settings };
  const program = join(project, BIN);
  expect(await must(program, ['release'], { cwd: project, env: settings })).to.include('Ready for release');
  const started: Started[] = [];
  try {
    for (const role of ['web', 'worker']) started.push(await start(program, role, project, env));
    const url = `http://127.0.0.1:${started[0]?.port}`;
    const post = (path: string, body: object) => request('POST', `${url}${path}`, { body });
    expect((await request('GET', `${url}/`)).status).to.equal(200);
    expect((await request('GET', `${url}/v1/providers`)).body.data.length).to.be.greaterThan(40);
    const transform = 'function transform(evt) { return { name: "shop/sold", data: { total: evt.total } } }';
    const { body: webhook } = await post('/v1/webhooks', { name: 'Shop', verify: false, transform });
    const { pathname } = new URL(webhook.data.url);
    const { body: sent } = await post(pathname, { total: 12 });
    const event = await until(
      async () => {
        const { status, body } = await request('GET', `${url}/v1/events/${sent.ids[0]}`);
        return status === 200 && body;
      },
      { describe: 'the event is stored' },
    );
    expect(event.data).to.deep.include({ name: 'shop/sold', data: { total: 12 } });
  } finally {
    const ends = await Promise.all(started.map(({ stop }) => stop()));
    expect(ends).to.deep.equal(started.map(() => 0));
  }
}

interface Started {
  port: number | undefined;
  /** @returns the exit code */
  stop(): Promise<number | null>;
}

async function start(program: string, role: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Started> {
  const child: ChildProcess = spawn(program, [role], { cwd, env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const exited = once(child, 'exit');
  const [first] = await Promise.race([once(child, 'message'), exited]);
  if (child.exitCode !== null) throw new Error(`${role} ended with ${child.exitCode}`);
  return {
    port: (first as { port?: number }).port,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      return child.exitCode;
    },
  };
}
