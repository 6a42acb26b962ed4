import { expect } from 'chai';
import { ACCESS } from '../../src/model/auth/access.ts';
import { partitionTag } from '../../src/model/partitions/hash-tags.ts';
import { type Headers, keyHeaders } from '../support/auth.ts';
import { type Service, startService } from '../support/service.ts';

describe('Bull Board with several partitions', () => {
  let service: Service;
  const holders: Record<string, Headers> = {};
  const name = encodeURIComponent('partition 02.runs');
  before(async () => {
    service = await startService({ dev: false, workers: 0, env: { PARTITIONS: '3' } });
    for (const access of ACCESS) holders[access] = await keyHeaders(service, access);
  });
  after(() => service.stop());

  /** A failed job in the last partition. */
  async function addFailed(): Promise<void> {
    const prefix = `{${partitionTag(service.prefix, 2)}}:queue:runs`;
    await service.redis.hset(`${prefix}:job`, { name: 'n', data: '{}', opts: '{}', timestamp: 1, finishedOn: 2 });
    await service.redis.zadd(`${prefix}:failed`, 2, 'job');
  }
  const jobsOf = async (state: string) => {
    const { body } = await service.get(`/queues/api/queues?activeQueue=${name}&status=${state}&page=1`);
    const queue = body.queues.find((queue: { name: string }) => queue.name === decodeURIComponent(name));
    return queue.jobs.map(({ id }: { id: string }) => id);
  };

  it('shows the queues of each as a group', async () => {
    const { body } = await service.get('/queues/api/queues');
    expect(body.queues.map(({ name }: { name: string }) => name)).to.deep.equal(
      ['00', '01', '02'].flatMap((n) => [`partition ${n}.ingest`, `partition ${n}.runs`, `partition ${n}.timers`]),
    );
  });

  it('acts on a job of a partition for users with access', async () => {
    await addFailed();
    expect(await jobsOf('failed')).to.deep.equal(['job']);
    const retry = (headers?: Headers) => service.request('PUT', `/queues/api/queues/${name}/job/retry`, {}, headers);
    expect((await retry(holders.read)).status).to.equal(403);
    expect(await jobsOf('failed')).to.deep.equal(['job']);
    expect((await retry(holders.write)).status).to.be.within(200, 204);
    expect(await jobsOf('failed')).to.deep.equal([]);
    expect(await jobsOf('waiting')).to.deep.equal(['job']);
    const remove = (headers?: Headers) => service.request('PUT', `/queues/api/queues/${name}/job/clean`, {}, headers);
    expect((await remove(holders.write)).status).to.equal(403);
    expect((await remove(holders.admin)).status).to.be.within(200, 204);
    expect(await jobsOf('waiting')).to.deep.equal([]);
  });

  it('allows nobody to forge events or lose all jobs', async () => {
    for (const [method, action] of [
      ['POST', 'add'],
      ['PUT', 'obliterate'],
    ] as const) {
      const { status } = await service.request(method, `/queues/api/queues/${name}/${action}`, {}, holders.admin);
      expect(status).to.equal(404);
    }
  });
});
