import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const SLEEPS = { status: 206, body: [{ id: 'a'.repeat(40), op: 'Sleep', name: '1h' }] };
const FAILS = { status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'Bad', message: 'no' } };
const PATH = '/v1/runs/bulk';
const RERUNS = 20;
const CANCELLED = 80;

interface ListedRun {
  run_id: string;
  retry_of: string | null;
  cancel_reason: { id: string } | null;
}

describe('Bulk actions when processes die', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService({ processes: 'worker', env: { STALLED_AFTER_SECONDS: '1' } });
    host = await startAppHost();
    host.on('sleeps', () => SLEEPS);
    host.on('fails', () => FAILS);
    const functions = ['sleeps', 'fails'].map((id) => ({ id, triggers: [{ event: `bulk/${id}` }] }));
    await host.register(service, functions, { appName: 'bulk' });
  });
  after(async () => {
    await host.close();
    await service.stop();
  });

  async function runsOf(id: string, status: string, count: number): Promise<ListedRun[]> {
    const path = `/v1/runs?function_id=bulk-${id}&status=${status}&limit=100`;
    return (await service.waitFor(path, ({ body }) => body.data?.length === count)).body.data;
  }

  async function begin(body: object): Promise<string> {
    const { status, body: responseBody } = await service.post(PATH, body);
    expect(status, JSON.stringify(responseBody)).to.equal(201);
    return responseBody.data.id;
  }

  it('a bulk re-run and a bulk cancellation act on each run once when their worker is killed, and count them once', async () => {
    const send = (id: string, count: number) =>
      service.post(
        '/e/key',
        Array.from({ length: count }, (_, n) => ({ name: `bulk/${id}`, data: { n } })),
      );
    await send('fails', RERUNS);
    await send('sleeps', CANCELLED);
    const failed = await runsOf('fails', 'Failed', RERUNS);
    await runsOf('sleeps', 'Running', CANCELLED);
    host.on('fails', () => ({ body: 'mended' }));
    const stored = async (id: string) => {
      const key = service.keys.bulkOperation('production', 'bulk-action', id);
      return (await service.redis.hgetall(key)) as { status?: string; planned?: string };
    };
    const begun = (id: string) => async () => {
      const { status, planned } = await stored(id);
      return planned !== undefined || status === 'done';
    };
    // One run at a time, so that it is at work for some seconds.
    const filter = { function_id: 'bulk-fails', status: ['Failed'] };
    const [retry, cancel] = await Promise.all([
      begin({ action: 'retry', filter, rate: 2 }),
      begin({ action: 'cancel', filter: { function_id: 'bulk-sleeps' } }),
    ]);
    await Promise.all([retry, cancel].map((id) => until(begun(id), { describe: 'both have begun' })));
    await service.killWorker();
    expect((await stored(retry)).status).to.equal('running');
    await service.startWorker();
    const over = async (id: string) =>
      (await service.waitFor(`${PATH}/${id}`, ({ body }) => body.data?.status === 'done', 60_000)).body.data.progress;
    expect(await over(retry)).to.deep.include({ done: RERUNS, skipped: {} });
    expect(await over(cancel)).to.deep.include({ done: CANCELLED, skipped: {} });
    const reruns = await runsOf('fails', 'Completed', RERUNS);
    expect(reruns.map(({ retry_of }) => retry_of).sort()).to.deep.equal(failed.map(({ run_id }) => run_id).sort());
    expect(await runsOf('fails', 'Failed', RERUNS)).to.deep.equal(failed);
    const cancelled = await runsOf('sleeps', 'Cancelled', CANCELLED);
    expect(new Set(cancelled.map(({ cancel_reason }) => cancel_reason?.id))).to.deep.equal(new Set([cancel]));
    for (const [id, count] of [
      [retry, RERUNS],
      [cancel, CANCELLED],
    ] as const) {
      const { body } = await service.get(`${PATH}/${id}/results?limit=100`);
      expect(new Set(body.data.map(({ run_id }: ListedRun) => run_id)).size).to.equal(count);
    }
  });
});
