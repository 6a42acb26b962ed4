/** What a what-if takes from production: the latency of plain runs alone, and beside one over many stored runs, in turns. */
import type { Measurement } from '../bench.ts';
import type { Row } from '../row.ts';
import { SECRETS } from '../service.ts';
import { median, quantile } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';
import { plainCalls } from './latency.ts';

const STORED_RUNS = 2_500;
const INTERVAL_MS = 20;
/** Rounds are longer than others by this factor. */
const ROUND_FACTOR = 2;
const PATH = '/api/service';
const WORK = `event received to function called, ${1_000 / INTERVAL_MS} events/s, beside a what-if over ${STORED_RUNS.toLocaleString('en-US')} runs`;
const group = 'what-if';

interface WhatIf {
  id: string;
  status: string;
  checked: number;
  unchanged: number;
}

export const whatIf: Measurement = {
  group,
  names: [WORK],
  measure: (bench) =>
    bench.withTestBed({}, async (testBed) => {
      const candidateUrl = await storeRuns(testBed);
      await testBed.service.register('bench', [{ id: 'run', event: 'bench/run' }]);
      // Warm-up.
      await plainCalls(testBed, 200, INTERVAL_MS);
      const { rounds, seconds } = bench.options;
      const events = (ROUND_FACTOR * seconds * 1_000) / INTERVAL_MS;
      const [alone, beside]: [number[][], number[][]] = [[], []];
      for (let round = 0; round < rounds; round++) {
        alone.push((await plainCalls(testBed, events, INTERVAL_MS)).ages);
        beside.push(await besideWhatIf(testBed, candidateUrl, events));
      }
      const row = (name: string, q: number): Row => ({
        ...{ group, unit: 'ms', work: `${WORK}, ${name}`, targets: [] },
        value: median(beside.map((ages) => quantile(ages, q))),
        references: [{ what: 'alone', value: median(alone.map((ages) => quantile(ages, q))) }],
      });
      return { rows: [row('p50', 0.5), row('p99', 0.99)], costs: [], series: [] };
    }),
};

/** @returns where another process of the app is */
async function storeRuns(testBed: TestBed): Promise<string> {
  const { service } = testBed;
  const env = {
    SERVICE_BASE_URL: service.url,
    SERVICE_EVENT_KEY: SECRETS.EVENT_KEYS,
    SERVICE_SIGNING_KEY: SECRETS.SIGNING_KEY,
  };
  const app = await testBed.startProcess('bench/what-if-app.ts', env);
  const response = await fetch(app.url + PATH, { method: 'PUT' });
  if (!response.ok) throw new Error(`the app could not register: ${await response.text()}`);
  await testBed.startWorker();
  await service.sendMany({ name: 'bench/chain', data: {} }, STORED_RUNS);
  await service.untilDrained();
  return (await testBed.startProcess('bench/what-if-app.ts', env)).url + PATH;
}

/** The latency while a what-if goes on. */
async function besideWhatIf(testBed: TestBed, url: string, events: number): Promise<number[]> {
  const { service, bench } = testBed;
  const body = { url, app: 'what-if', active: false, last: '1d', past_max: STORED_RUNS, triggers: false };
  const { id } = await service.api<WhatIf>('/v1/what-ifs', body);
  const { ages } = await plainCalls(testBed, events, INTERVAL_MS);
  const { status, checked, unchanged } = await service.api<WhatIf>(`/v1/what-ifs/${id}`);
  bench.progress(`the what-if is ${status}: ${checked} runs, ${unchanged} unchanged`);
  if (status !== 'running' || checked === 0 || unchanged < checked)
    throw new Error('the what-if did not go on all the time');
  await service.api(`/v1/what-ifs/${id}/cancel`, {});
  return ages;
}
