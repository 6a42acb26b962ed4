import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { SCHEMA_FIELD } from '../../src/store/redis/keyspace/schema-version.ts';
import { connectNodes, freshPrefix, type Redis } from '../support/redis.ts';
import { startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** With webs, workers, or both: each must fail. */
const ROLES = { web: { webs: 1, workers: 0 }, worker: { webs: 0, workers: 1 } };

describe('A start that fails', () => {
  let redis: Redis;
  before(() => {
    [redis] = connectNodes() as [Redis];
  });
  after(() => redis.quit());

  const connections = async () =>
    String(await redis.client('LIST'))
      .trim()
      .split('\n').length;
  const servers = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;

  /** @param role of the process that must fail, and leave nothing open */
  async function fails(role: keyof typeof ROLES, env: Record<string, string>, why: string): Promise<void> {
    const before = [await connections(), servers()];
    const failure = await startService({ ...ROLES[role], env }).catch((error: Error) => error);
    expect(String(failure)).to.include(why);
    const isClosed = async () => (await connections()) === before[0] && servers() === before[1];
    await until(isClosed, { describe: 'connections and servers are closed' });
  }

  for (const role of ['web', 'worker'] as const) {
    it(`closes what ${role} has opened: the metrics port is taken`, async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await until(() => other.listening, { describe: 'it listens' });
      const { port } = other.address() as AddressInfo;
      await fails(role, { METRICS_PORT: String(port) }, 'METRICS_PORT').finally(() => other.close());
    });

    it(`closes what ${role} has opened: Redis is not as durable as the setting demands`, () =>
      fails(role, { INGEST_DURABILITY: 'fsync', METRICS_PORT: '0' }, 'appendfsync'));

    it(`closes what ${role} has opened: a newer version has written the store`, async () => {
      const prefix = freshPrefix();
      const key = `${prefix}:partition-layout`;
      await redis.hset(key, SCHEMA_FIELD, JSON.stringify({ version: 9, oldest: 9, release: '9.0.0' }));
      await fails(role, { KEY_PREFIX: prefix, METRICS_PORT: '0' }, '9.0.0').finally(() => redis.del(key));
    });
  }

  it('closes what web has opened: its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await until(() => other.listening, { describe: 'it listens' });
    const { port } = other.address() as AddressInfo;
    await fails('web', { PORT: String(port), METRICS_PORT: '0' }, 'PORT').finally(() => other.close());
  });
});
