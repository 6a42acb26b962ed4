import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { type Service, startService } from '../support/service.ts';

const LOCALE = 'en_US.UTF-8';

describe('Order with a Redis whose locale sorts texts otherwise than by bytes', () => {
  let folder: string;
  let redis: OwnRedis | undefined;
  let service: Service;
  let host: AppHost;
  before(async function () {
    folder = mkdtempSync(join(tmpdir(), 'tidegate-locale-'));
    // Not every machine has the sources of locales.
    const made = spawnSync('localedef', ['-i', 'en_US', '-f', 'UTF-8', join(folder, LOCALE)], { stdio: 'ignore' });
    if (made.status !== 0) this.skip();
    redis = await startOwnRedis({ LOCPATH: folder, LC_ALL: LOCALE });
    service = await startService({ env: { REDIS_URL: redis.url } });
    host = await startAppHost();
  });
  after(async () => {
    await service?.stop();
    await host?.close();
    await redis?.remove();
    rmSync(folder, { recursive: true });
  });

  for (const [name, first, second] of [
    ['time', '2026-12-01T10:00:00Z', '2026-12-01T10:00:00.5Z'],
    ['version', '2.0.0-rc.1', '2.0.0'],
    ['number', 1, 1.5],
    ['longer-version', '1.10', '1.10.2'],
  ] as const) {
    it(`takes no event with a newer ${name} for a stale one`, async () => {
      const order = { key: '"one"', by: 'event.data.by', onStale: 'skip' };
      await host.register(service, [{ id: 'f', triggers: [{ event: `${name}/x` }], order }], { appName: name });
      const decisions: string[] = [];
      for (const by of [first, second]) {
        const id = (await service.post('/e/key', { name: `${name}/x`, data: { by } })).body.ids[0];
        const path = `/v1/events/${id}/decisions`;
        const isDecided = (data: { outcome: string }[] | undefined) =>
          data?.[0] !== undefined && data[0].outcome !== 'pending';
        const { body } = await service.waitFor(path, (response) => isDecided(response.body.data));
        decisions.push(body.data[0].outcome);
      }
      expect(decisions).to.deep.equal(['ran', 'ran']);
    });
  }
});
