/** A service with an app, and what the tests of replays ask of them. */
import { expect } from 'chai';
import type { ReplayResult } from '../../src/model/replays/replay.ts';
import type { FunctionSpec } from '../support/app-host.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, type ServiceOptions, startService } from '../support/service.ts';

export const FAILS = { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'Bad', message: 'no' } };

export interface ReplayBed {
  service: Service;
  host: AppHost;
  register(functions: FunctionSpec[]): Promise<void>;
  /** Sends events, and waits until they are ingested. @returns their internal IDs */
  send(events: { name: string; data?: object; id?: string }[]): Promise<string[]>;
  /** Waits until so many runs of the function have the status. */
  runs(functionId: string, status: string, count: number): Promise<void>;
  // biome-ignore lint/suspicious/noExplicitAny: any response of the API
  create(body?: object): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: any response of the API
  dryRun(body?: object): Promise<any>;
  /** Waits until the replay is as the condition says. */
  // biome-ignore lint/suspicious/noExplicitAny: any response of the API
  until(id: string, condition: (replay: any) => boolean, timeoutMs?: number): Promise<any>;
  results(id: string, query?: string): Promise<(ReplayResult & { event_id: string; run_id: string })[]>;
  close(): Promise<void>;
}

/** A range that has every event of the test. */
export const range = () => ({
  received_after: new Date(Date.now() - 3_600_000).toISOString(),
  received_before: new Date(Date.now() + 60_000).toISOString(),
});

export async function startReplayBed(options: ServiceOptions = {}): Promise<ReplayBed> {
  const service = await startService(options);
  const host = await startAppHost();
  const runsOf = async (functionId: string, status: string) => {
    let count = 0;
    let cursor = '';
    do {
      const query = `function_id=shop-${functionId}&status=${status}&limit=100${cursor && `&cursor=${cursor}`}`;
      const { body } = await service.get(`/v1/runs?${query}`);
      count += body.data.length;
      cursor = body.metadata.cursor ?? '';
    } while (cursor);
    return count;
  };
  return {
    service,
    host,
    async register(functions) {
      expect((await host.register(service, functions, { appName: 'shop' })).status).to.equal(200);
    },
    async send(events) {
      const ids: string[] = [];
      for (let at = 0; at < events.length; at += 500) {
        const some = events.slice(at, at + 500).map(({ data = {}, ...event }) => ({ ...event, data }));
        ids.push(...(await service.post(service.eventPath, some)).body.ids);
      }
      for (const id of ids)
        await service.waitFor(
          `/v1/events/${id}/decisions`,
          ({ body, status }) => status === 200 && !JSON.stringify(body).includes('"pending"'),
        );
      return ids;
    },
    async runs(functionId, status, count) {
      const { until } = await import('../support/until.ts');
      await until(async () => (await runsOf(functionId, status)) === count, {
        describe: `${count} runs of ${functionId} are ${status}`,
      });
    },
    async create(body = {}) {
      const response = await service.post('/v1/replays', { statuses: ['Failed'], ...range(), ...body });
      expect(response.status, JSON.stringify(response.body)).to.equal(201);
      return response.body.data;
    },
    async dryRun(body = {}) {
      const response = await service.post('/v1/replays', { statuses: ['Failed'], ...range(), ...body, dry_run: true });
      expect(response.status, JSON.stringify(response.body)).to.equal(200);
      return response.body.data;
    },
    async until(id, condition, timeoutMs = 30_000) {
      const { body } = await service.waitFor(
        `/v1/replays/${id}`,
        (response) => condition(response.body.data),
        timeoutMs,
      );
      return body.data;
    },
    async results(id, query = '') {
      const all = [];
      let cursor = '';
      do {
        const path = `/v1/replays/${id}/results?limit=100${query}${cursor && `&cursor=${cursor}`}`;
        const { body } = await service.get(path);
        all.push(...body.data);
        cursor = body.metadata.cursor ?? '';
      } while (cursor);
      return all;
    },
    async close() {
      await host.close();
      await service.stop();
    },
  };
}
