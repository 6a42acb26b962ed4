/** A minimal function host: answers every call at once, counts the calls, and measures the delay of each event. The function `bench-ten`
 *  has ten steps in a call each; `bench-checkpoint-<n>` has ten steps in one call, and stores them with checkpoints of n steps. Functions of
 *  WAITS have three steps with results of 50 bytes, then a step that sleeps or waits. Every other
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
}

const STEPS = 10;
const stepRun = (n: number) => ({ id: n.toString(16).padStart(40, '0'), op: 'StepRun', name: `step-${n}`, data: n });

/** Hashed as an SDK does. */
const idOf = (name: string) => createHash('sha1').update(name).digest('hex');
const STEPS_BEFORE_WAIT = 3;
const WAIT_AT_MOST = '30d';
const WAITS: Record<string, object> = {
  sleeping: { id: idOf('nap'), op: 'Sleep', name: WAIT_AT_MOST, displayName: 'nap', opts: { duration: WAIT_AT_MOST } },
  waiting: {
    id: idOf('answer'),
    op: 'WaitForEvent',
    name: 'bench/answer',
    displayName: 'answer',
    opts: { event: 'bench/answer', timeout: WAIT_AT_MOST, if: 'async.data.key == event.data.key' },
  },
};
const WAITING_FUNCTION = /fnId=bench-(sleeping|waiting)\b/;

/** @param done number of finished steps */
function waitingAnswer(name: string, done: number): object | undefined {
  if (done > STEPS_BEFORE_WAIT) return undefined;
  const step = `step-${done + 1}`;
  return done === STEPS_BEFORE_WAIT
    ? WAITS[name]
    : { id: idOf(step), op: 'StepRun', name: step, displayName: step, data: 'x'.repeat(48) };
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

let seen: HostReport = { calls: 0, lastAt: 0, ages: [] };
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
    if (sentAt) seen.ages.push(seen.lastAt - Number(sentAt));
    const finished = () => Number(/"current":(\d+)/.exec(body)?.[1]);
    const done = request.url?.includes('bench-ten') ? finished() : STEPS;
    const waiting = WAITING_FUNCTION.exec(request.url ?? '')?.[1];
    const wait = waiting && waitingAnswer(waiting, finished());
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
  seen = { calls: 0, lastAt: 0, ages: [] };
});
process.once('disconnect', () => process.exit());
