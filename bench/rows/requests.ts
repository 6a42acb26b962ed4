/** Events taken in: requests a second beside a bare Koa echo of the same bodies, and webhooks beside single events. */
import { median, wrk } from '../processes.ts';
import type { Row } from '../row.ts';
import type { Stage } from '../stage.ts';

const TRANSFORM = 'function transform(evt, headers) { return { name: "bench/" + headers["X-Kind"], data: evt }; }';

export async function requestRows(stage: Stage, rounds: number, seconds: number): Promise<Row[]> {
  const echo = await stage.begin('bench/references/echo.ts');
  const { url: hook } = await stage.api<{ url: string }>('/v1/webhooks', { name: 'bench', transform: TRANSFORM });

  /** Rounds of one and the other alternate. */
  async function pair(own: Measure, reference: Measure): Promise<[number, number]> {
    const reached: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      reached[0].push(await wrk(own.url, own.script, own.connections, seconds));
      reached[1].push(await wrk(reference.url, reference.script, reference.connections, seconds));
    }
    return [median(reached[0]), median(reached[1])];
  }

  const rows: Row[] = [];
  for (const [connections, share] of [
    [32, 0.6],
    [128, 0.75],
  ] as const) {
    const single = { script: 'single.lua', connections };
    const [own, bare] = await pair({ ...single, url: stage.door }, { ...single, url: echo.url });
    const reference = { what: 'a bare Koa echo', value: bare };
    rows.push({
      work: `single events, ${connections} connections`,
      value: own,
      unit: 'events/s',
      reference,
      target: { share },
    });
  }
  const batch = { script: 'batch.lua', connections: 32 };
  const [batches, echoed] = await pair({ ...batch, url: stage.door }, { ...batch, url: echo.url });
  rows.push({
    work: 'batches of 100, accepted',
    value: batches * 100,
    unit: 'events/s',
    reference: { what: 'a bare Koa echo', value: echoed * 100 },
    target: { least: 60_000 },
  });
  const webhook = { script: 'webhook.lua', connections: 32, url: hook };
  const [hooks, singles] = await pair(webhook, { script: 'single.lua', connections: 32, url: stage.door });
  rows.push({
    work: 'webhooks with a transform, 32 connections',
    value: hooks,
    unit: 'events/s',
    reference: { what: 'single events', value: singles },
    target: { share: 0.6 },
  });
  await echo.stop();
  return rows;
}

interface Measure {
  url: string;
  script: string;
  connections: number;
}
