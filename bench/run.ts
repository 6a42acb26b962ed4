/** How fast is the main job? `npm run bench`, on a Redis of its own (AOF everysec), with wrk (Debian: apt-get install wrk).
 *  Rounds of the service and of its reference alternate; medians are printed. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { findRedis } from '../scripts/lib/redis-program.ts';
import { startRedis } from '../scripts/lib/redis-server.ts';
import type { HostReport } from './host.ts';
import { median, type Part, quantile, start, wrk } from './processes.ts';

const ROUNDS = 3;
const SECONDS = 5;
const RUNS = 20_000;
const STEP_RUNS = 2_000;
const PACED_EVENTS = 500;
const PACE_MS = 10;

const dir = mkdtempSync(join(tmpdir(), 'tidegate-bench-'));
const redis = await startRedis(findRedis(), dir);
const SECRETS = {
  EVENT_KEYS: 'bench-key',
  SECRET_KEY: 'bench-secret-key-0123456789abcdef',
  API_KEY: 'bench-api-key-0123456789',
  SIGNING_KEY: 'signkey-bench-00ff',
};
const env = { HOST: '127.0.0.1', PORT: '0', REDIS_URL: redis.url, LOG_LEVEL: 'warn', MODE: 'production', ...SECRETS };
const parts: Part[] = [];
const begin = async (script: string, more = {}) => {
  const part = await start(script, more);
  parts.push(part);
  return part;
};

try {
  const echo = await begin('bench/echo.ts');
  const host = await begin('bench/host.ts');
  const web = await begin('src/web.ts', env);
  const door = `${web.url}/e/${SECRETS.EVENT_KEYS}`;
  await requests(door, echo.url);
  const worker = await begin('src/worker.ts', env);
  await drained(web.url);
  await register(web.url, host.url);
  await runs(door, host, 1);
  await latency(door, host);
  const second = await begin('src/worker.ts', env);
  await runs(door, host, 2);
  await second.stop();
  await worker.stop();
} finally {
  for (const { child } of parts) child.kill('SIGKILL');
  await redis.stop();
  rmSync(dir, { recursive: true, force: true });
}

async function requests(door: string, echo: string): Promise<void> {
  for (const [what, script, connections, events] of [
    ['single events', 'single.lua', 32, 1],
    ['batches of 100', 'batch.lua', 32, 100],
  ] as const) {
    const [own, reference]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      own.push(await wrk(door, script, connections, SECONDS));
      reference.push(await wrk(echo, script, connections, SECONDS));
    }
    const [rate, bare] = [median(own), median(reference)];
    const share = `${Math.round((100 * rate) / bare)} % of a bare Koa echo (${Math.round(bare)} requests/s)`;
    console.log(`${what}, ${connections} connections: ${Math.round(rate * events)} events/s accepted, ${share}`);
  }
}

async function register(web: string, host: string): Promise<void> {
  const { hashedKey } = await import('../src/functions/signing.ts');
  const functions = ['run', 'ten'].map((name) => {
    const runtime = { type: 'http', url: `${host}/?fnId=bench-${name}&stepId=step` };
    const steps = { step: { id: 'step', name: 'step', runtime } };
    return { id: `bench-${name}`, name, triggers: [{ event: `bench/${name}` }], steps };
  });
  const answer = await fetch(`${web}/fn/register`, {
    method: 'POST',
    headers: { 'x-service-sdk': 'bench:v1.0.0', authorization: `Bearer ${hashedKey(SECRETS.SIGNING_KEY)}` },
    body: JSON.stringify({ url: host, appName: 'bench', functions }),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

async function runs(door: string, host: Part, workers: number): Promise<void> {
  const plain = await callsPerSecond(door, host, 'bench/run', RUNS, RUNS);
  console.log(
    `one event to one function, bare host, ${workers} worker(s): ${Math.round(plain)} runs/s over ${RUNS} runs`,
  );
  const calls = await callsPerSecond(door, host, 'bench/ten', STEP_RUNS, STEP_RUNS * 11);
  const steps = Math.round((calls * 10) / 11);
  console.log(`ten-step functions, bare host, ${workers} worker(s): ${steps} steps/s over ${STEP_RUNS} runs`);
}

/** All events at once, as fast as they are accepted, until the last call. */
async function callsPerSecond(door: string, host: Part, name: string, events: number, calls: number): Promise<number> {
  await report(host);
  const startedAt = performance.timeOrigin + performance.now();
  for (let n = 0; n < events; n += 100) {
    await send(
      door,
      Array.from({ length: 100 }, () => ({ name, data: { total: 1 } })),
    );
  }
  const seen: HostReport = { calls: 0, lastAt: 0, ages: [] };
  while (seen.calls < calls) {
    await setTimeout(100);
    const next = await report(host);
    seen.calls += next.calls;
    seen.lastAt = next.lastAt || seen.lastAt;
  }
  return (1_000 * calls) / (seen.lastAt - startedAt);
}

async function latency(door: string, host: Part): Promise<void> {
  await report(host);
  for (let n = 0; n < PACED_EVENTS; n++) {
    void send(door, { name: 'bench/run', data: { sentAt: performance.timeOrigin + performance.now() } });
    await setTimeout(PACE_MS);
  }
  await setTimeout(1_000);
  const { ages } = await report(host);
  const at = (q: number) => quantile(ages, q).toFixed(1);
  console.log(
    `event sent to function called, some ${1_000 / PACE_MS} events/s: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (${ages.length} events)`,
  );
}

async function send(door: string, body: object): Promise<void> {
  const answer = await fetch(door, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (answer.status !== 200) throw new Error(await answer.text());
}

async function report({ child }: Part): Promise<HostReport> {
  const answer = once(child, 'message');
  child.send('report');
  return (await answer)[0] as HostReport;
}

/** Waits until the worker has ingested what the first part sent. */
async function drained(web: string): Promise<void> {
  const headers = { authorization: `Bearer ${SECRETS.API_KEY}` };
  for (;;) {
    const { queues } = (await (await fetch(`${web}/queues/api/queues`, { headers })).json()) as {
      queues: { name: string; counts: { waiting: number; active: number } }[];
    };
    if (queues.every(({ counts }) => counts.waiting + counts.active === 0)) return;
    await setTimeout(500);
  }
}
