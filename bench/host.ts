/** A minimal function host: answers every call at once, counts the calls, and measures the delay of each event. The function `bench-ten`
 *  has ten steps in a call each; `bench-checkpoint-<n>` has ten steps in one call, and stores them with checkpoints of n steps. Functions of
 *  WAITS have three steps with results of 50 bytes, then a step that sleeps or waits; `bench-napping` only sleeps, until the time in its event. Every other
 *  function has none; one with `failing` in its name fails permanently. IPC commands: `report` returns the figures
 *  since the last report; `hold` delays responses until `release`, `hold-waiting` those to events of the key "waiting". */
import { createHash } from 'node:crypto';
import { Agent, createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

export type HostCommand = 'report' | 'hold' | 'hold-waiting' | 'release';

export interface HostReport {
  calls: number;
  /** When the last call came, Unix milliseconds. */
  lastAt: number;
  /** Milliseconds from the `sentAt` in an event's data, or from the tick of a schedule, to its call. */
  ages: number[];
  /** Milliseconds from the end of each sleep of `bench-napping` to the call after it. */
  late: number[];
  /** How many of these calls came between each event with a `sentAt` and its call. */
  overtaken: number[];
}

const STEPS = 10;
const stepRun = (n: number) => ({ id: n.toString(16).padStart(40, '0'), op: 'StepRun', name: `step-${n}`, data: n });

/** Hashed as an SDK does. */
const idOf = (name: string) => createHash('sha1').update(name).digest('hex');
const STEPS_BEFORE_WAIT = 3;
const WAIT_AT_MOST = '30d';
const nap = (duration: string) => ({ op: 'Sleep', name: duration, displayName: 'nap', opts: { duration } });
/** By function. @param key of the event */
const WAITS: Record<string, (key: string) => { displayName: string }> = {
  'sleeping-days': () => nap('3d'),
  sleeping: () => nap(WAIT_AT_MOST),
  waiting: () => ({
    op: 'WaitForEvent',
    name: 'bench/answer',
    displayName: 'answer',
    opts: { event: 'bench/answer', timeout: WAIT_AT_MOST, if: 'async.data.key == event.data.key' },
  }),
  signal: (key) => ({
    op: 'WaitForSignal',
    name: key,
    displayName: 'answer',
    opts: { signal: key, timeout: WAIT_AT_MOST },
  }),
};
const WAITING_FUNCTION = new RegExp(`fnId=bench-(${Object.keys(WAITS).join('|')})&`);
const KEY = /"key":"(\w+)"/;

/** @param done number of finished steps */
function waitingAnswer(name: string, done: number, body: string): object | undefined {
  if (done > STEPS_BEFORE_WAIT) return undefined;
  const step = `step-${done + 1}`;
  const wait = WAITS[name]?.(KEY.exec(body)?.[1] ?? '');
  return done === STEPS_BEFORE_WAIT && wait
    ? { id: idOf(wait.displayName), ...wait }
    : { id: idOf(step), op: 'StepRun', name: step, displayName: step, data: 'x'.repeat(48) };
}

const NAPPING = /fnId=bench-napping\b/;
const UNTIL = /"until":"([^"]+)"/;

/** @returns undefined after the sleep, of which the delay is recorded */
function napUntil(until: string, done: number): object | undefined {
  if (done === 0) return { id: idOf('nap'), op: 'Sleep', name: until, displayName: 'nap', opts: { duration: until } };
  seen.late.push(seen.lastAt - Date.parse(until));
  awokeAt.push(seen.lastAt);
  return undefined;
}

const agent = new Agent({ keepAlive: true, maxSockets: 128 });
const SCHEDULED = /"name":"inngest\/scheduled\.timer","ts":(\d+)/;
const CHECKPOINTED = /fnId=bench-checkpoint-(\d+)/;

/** Stores the steps as an SDK does. @param call the body of the call, whose event names the service and its proof */
async function storeSteps(call: string, size: number): Promise<void> {
  const { ctx, event } = JSON.parse(call);
  const { service, proof } = event.data;
  for (let n = 0; n < STEPS; n += size) {
    const steps = Array.from({ length: Math.min(size, STEPS - n) }, (_, i) => stepRun(n + i));
    const body = JSON.stringify({ run_id: ctx.run_id, fn_id: ctx.fn_id, qi_id: ctx.qi_id, steps });
    const headers = { 'content-type': 'application/json', authorization: proof };
    await new Promise<void>((resolve, reject) => {
      const url = `${service}/v1/checkpoint/${ctx.run_id}/async`;
      const request = send(url, { method: 'POST', agent, headers }, (response) => {
        response.resume();
        const refused = () => reject(new Error(`a checkpoint was answered ${response.statusCode}`));
        response.on('end', response.statusCode === 200 ? resolve : refused);
      });
      request.on('error', reject).end(body);
    });
  }
}

const NOTHING_SEEN = { calls: 0, lastAt: 0 };
/** When each run of `bench-napping` was called after its sleep, Unix milliseconds, in order. */
const awokeAt: number[] = [];
let seen: HostReport = { ...NOTHING_SEEN, ages: [], late: [], overtaken: [] };
let held: (() => void)[] | undefined;
let holdsAll = false;
const WAITING = '"key":"waiting"';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    seen.calls++;
    seen.lastAt = performance.timeOrigin + performance.now();
    const body = Buffer.concat(chunks).toString('latin1');
    const sentAt = (/"sentAt":([\d.]+)/.exec(body) ?? SCHEDULED.exec(body))?.[1];
    if (sentAt) {
      seen.ages.push(seen.lastAt - Number(sentAt));
      seen.overtaken.push(awokeAt.length - 1 - awokeAt.findLastIndex((at) => at < Number(sentAt)));
    }
    const finished = () => Number(/"current":(\d+)/.exec(body)?.[1]);
    const done = request.url?.includes('bench-ten') ? finished() : STEPS;
    const waiting = WAITING_FUNCTION.exec(request.url ?? '')?.[1];
    const until = NAPPING.test(request.url ?? '') && UNTIL.exec(body)?.[1];
    const wait = until ? napUntil(until, finished()) : waiting && waitingAnswer(waiting, finished(), body);
    const headers = { 'content-type': 'application/json', 'x-service-sdk': 'bench:v1.0.0' };
    const answer = () => {
      if (request.url?.includes('failing'))
        response.writeHead(400, { ...headers, 'x-service-no-retry': 'true' }).end('{}');
      else if (wait) response.writeHead(206, headers).end(JSON.stringify([wait]));
      else if (done < STEPS) response.writeHead(206, headers).end(JSON.stringify([stepRun(done)]));
      else response.writeHead(200, headers).end('null');
    };
    const size = CHECKPOINTED.exec(request.url ?? '')?.[1];
    if (size) void storeSteps(Buffer.concat(chunks).toString('utf8'), Number(size)).then(answer);
    else if (held && (holdsAll || body.includes(WAITING))) held.push(answer);
    else answer();
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ ready: true, port: (server.address() as AddressInfo).port }));

process.on('message', (order: HostCommand) => {
  if (order === 'hold' || order === 'hold-waiting') {
    held ??= [];
    holdsAll = order === 'hold';
  }
  if (order === 'release') {
    for (const answer of held ?? []) answer();
    held = undefined;
  }
  process.send?.(seen);
  seen = { ...NOTHING_SEEN, ages: [], late: [], overtaken: [] };
});
process.once('disconnect', () => process.exit());
