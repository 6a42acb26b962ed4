import { expect } from 'chai';
import { startWeb } from '../../src/composition/start-web.ts';
import { startWorker } from '../../src/composition/start-worker.ts';
import { ConfigError, readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { request } from '../support/http.ts';
import { connectRedis, deleteKeys, freshPrefix, redisSettings } from '../support/redis.ts';
import { until } from '../support/until.ts';

describe('Web and worker without processes of their own', () => {
  const prefixes: string[] = [];
  const log = createLog('silent', 'test');

  const freshConfig = (env: Record<string, string> = {}) => {
    const prefix = freshPrefix();
    prefixes.push(prefix);
    const settings = { MODE: 'dev', PORT: '0', DISCOVERY: 'false', SHUTDOWN_DRAIN_SECONDS: '0', KEY_PREFIX: prefix };
    return readConfig({ ...redisSettings(), ...settings, ...env });
  };

  after(async () => {
    const redis = connectRedis();
    for (const prefix of prefixes) await deleteKeys(redis, prefix);
    redis.disconnect();
  });

  it('serve several installations at once, each with its own events', async () => {
    const start = async () => {
      const config = freshConfig();
      const [web, worker] = await Promise.all([startWeb({ config, log }), startWorker({ config, log })]);
      const url = `http://127.0.0.1:${web.ports.port}`;
      return { url, close: () => Promise.all([web.close(), worker.close()]) };
    };
    const [one, other] = await Promise.all([start(), start()]);
    const sent = await request('POST', `${one.url}/e/key`, { body: { name: 'order/paid', data: {} } });
    const countOf = async (url: string) => (await request('GET', `${url}/v1/events`, {})).body.data.length;
    await until(async () => (await countOf(one.url)) === 1, { describe: 'the worker has stored the event' });
    expect([sent.status, await countOf(other.url)]).to.deep.equal([200, 0]);
    await Promise.all([one.close(), other.close()]);
    const responds = await request('GET', `${one.url}/livez`, {}).then(
      () => true,
      () => false,
    );
    expect(responds).to.equal(false);
  });

  it('report what prevents the start, and leave nothing open', async () => {
    const web = await startWeb({ config: freshConfig(), log });
    const error = await startWeb({ config: freshConfig({ PORT: String(web.ports.port) }), log }).catch(
      (error) => error,
    );
    expect(error).to.be.instanceOf(ConfigError);
    expect(error.message).to.include('PORT: cannot listen on');
    await web.close();
  });
});
