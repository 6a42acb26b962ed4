/** Functions run: from the first event sent to the last call, with one worker and a host that does nothing. */
import { setTimeout } from 'node:timers/promises';
import { median, quantile } from '../processes.ts';
import type { Row } from '../row.ts';
import { now, type Stage } from '../stage.ts';

const RUNS = 20_000;
const STEP_RUNS = 2_000;
const STEPS = 10;
const FAN_OUT = 100;
const FANNED_EVENTS = 200;
const PACED_EVENTS = 1_000;
const PACE_MS = 10;

export async function runRows(stage: Stage, rounds: number): Promise<Row[]> {
  const many = Array.from({ length: FAN_OUT }, (_, n) => ({ id: `fan-${n}`, event: 'bench/fan' }));
  await stage.register([{ id: 'run', event: 'bench/run' }, { id: 'ten', event: 'bench/ten' }, ...many]);
  const loop = await stage.begin('bench/references/bullmq-loop.ts', {
    REDIS_URL: stage.redisUrl,
    HOST_URL: stage.host.url,
  });

  const bare = async () => {
    await stage.report();
    const startedAt = now();
    loop.child.send(RUNS);
    return perSecond(RUNS, startedAt, await stage.called(RUNS));
  };
  const own = async (event: string, events: number, calls: number) => {
    await stage.report();
    const startedAt = now();
    await stage.sendMany({ name: event, data: { total: 1 } }, events);
    return perSecond(calls, startedAt, await stage.called(calls));
  };

  const [plain, reference, steps, fanned]: number[][] = [[], [], [], []];
  for (let round = 0; round < rounds; round++) {
    plain?.push(await own('bench/run', RUNS, RUNS));
    reference?.push(await bare());
    steps?.push(((await own('bench/ten', STEP_RUNS, STEP_RUNS * (STEPS + 1))) * STEPS) / (STEPS + 1));
    fanned?.push(await own('bench/fan', FANNED_EVENTS, FANNED_EVENTS * FAN_OUT));
  }
  await loop.stop();
  const rate = median(plain ?? []);
  const beside = { what: 'a bare BullMQ loop', value: median(reference ?? []) };
  return [
    { work: 'one event to one plain function', value: rate, unit: 'runs/s', target: { least: 2_500 } },
    { work: 'the same, beside BullMQ', value: rate, unit: 'runs/s', reference: beside, target: { share: 0.5 } },
    { work: 'ten-step functions', value: median(steps ?? []), unit: 'steps/s', target: { least: 2_000 } },
    {
      work: `one event to ${FAN_OUT} functions`,
      value: median(fanned ?? []),
      unit: 'runs/s',
      reference: { what: 'plain runs', value: rate },
      target: { share: 0.9 },
    },
    ...(await latencyRows(stage)),
  ];
}

async function latencyRows(stage: Stage): Promise<Row[]> {
  await stage.drained();
  await stage.report();
  const startedAt = now();
  for (let n = 0; n < PACED_EVENTS; n++) {
    void stage.send({ name: 'bench/run', data: { sentAt: now() } });
    // To the clock, so that a late timer does not slow the pace.
    await setTimeout(Math.max(0, startedAt + (n + 1) * PACE_MS - now()));
  }
  await setTimeout(1_000);
  const { ages } = await stage.report();
  const work = `event sent to function called, ${1_000 / PACE_MS} events/s`;
  return [
    { work: `${work}, p50`, value: quantile(ages, 0.5), unit: 'ms', target: { most: 5 } },
    { work: `${work}, p99`, value: quantile(ages, 0.99), unit: 'ms', target: { most: 25 } },
  ];
}

function perSecond(count: number, startedAt: number, endedAt: number): number {
  return (1_000 * count) / (endedAt - startedAt);
}
