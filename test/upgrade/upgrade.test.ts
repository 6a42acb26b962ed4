import { createHmac } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import type { HttpResponse } from '../support/http.ts';
import { type OwnRedis, startOwnRedis } from '../support/own-redis.ts';
import { connectRedis } from '../support/redis.ts';
import { type Service, startService } from '../support/service.ts';
import { renewLoggedRequests, restoreStore } from './store-file.ts';
import { APP, addHandlers, FUNCTIONS, LOGGED, SETTINGS, UNFINISHED, VIEW, WEBHOOK_SECRET } from './unfinished-work.ts';

interface ListedRun {
  run_id: string;
  function_id: string;
  status: string;
  event_id: string;
}

/** It has nothing of what came later. */
const FIRST = '2026-11-23-before-versions.json.gz';

for (const name of readdirSync(join(import.meta.dirname, 'stores'))) {
  describe(`After an upgrade, with the store of ${name.replace('.json.gz', '')}`, function () {
    this.timeout(600_000);
    let own: OwnRedis;
    let host: AppHost;
    let service: Service;
    before(async () => {
      own = await startOwnRedis();
      const redis = connectRedis(own.url);
      await restoreStore(redis, name);
      await renewLoggedRequests(redis);
      redis.disconnect();
      host = await startAppHost();
      addHandlers(host, false);
      // The app has another port than in the store: without a word from an operator, that would be held.
      const APP_ORIGINS = new URL(host.url).origin;
      // Until it is registered, calls fail at the port in the store; by default they are tried again after 15 to 45 s.
      const env = { ...SETTINGS, APP_ORIGINS, REDIS_URL: own.url, RETRY_SCALE: '0.05' };
      service = await startService({ dev: false, env });
      expect((await host.register(service, FUNCTIONS, { appName: APP })).status).to.equal(200);
    });
    after(async () => {
      await service?.stop();
      await host?.close();
      await own?.remove();
    });

    const listed = (response: HttpResponse) => response.body.data as ListedRun[];
    const runsOf = async (id: string) => {
      const path = `/v1/runs?function_id=${APP}-${id}&limit=100`;
      const ended = (response: HttpResponse) =>
        listed(response)?.length > 0 && listed(response).every(({ status }) => status === 'Completed');
      return listed(await service.waitFor(path, ended, 120_000));
    };

    it('unfinished runs continue to their end', async () => {
      const answer = { name: 'upgrade/answer', data: { customer: 'c1', n: 42 } };
      expect((await service.post(service.eventPath, answer)).status).to.equal(200);
      for (const [id, output] of Object.entries(UNFINISHED)) {
        const runs = await runsOf(id);
        expect(runs, id).to.have.lengthOf(id === 'limited' ? 3 : 1);
        for (const { run_id } of runs) {
          const { body } = await service.get(`/v1/runs/${run_id}`);
          expect(body.data.output, id).to.equal(output);
        }
      }
    });

    it('ended runs keep their outcome', async () => {
      const [failed] = listed(await service.get(`/v1/runs?function_id=${APP}-failed`));
      expect(failed?.status).to.equal('Failed');
      const { history } = (await service.get(`/v1/runs/${failed?.run_id}`)).body.data;
      expect(history.at(-1)).to.include({ kind: 'attempt', status: 'Failed' });
      const completed = listed(await service.get(`/v1/runs?function_id=${APP}-completed`));
      expect(completed.map(({ status }) => status)).to.deep.equal(['Completed', 'Completed']);
      expect(host.calls('completed'), 'no call is repeated').to.deep.equal([]);
    });

    it('webhooks verify with the stored secret, and keep their log', async () => {
      const [webhook] = (await service.get('/v1/webhooks')).body.data;
      const { body } = await service.get(`/v1/webhooks/${webhook.id}/requests`);
      expect(body.data.map(({ outcome }: { outcome: string }) => outcome)).to.deep.equal(['accepted']);
      const payload = JSON.stringify({ id: 'evt_new', object: 'event', type: 'invoice.paid', data: { object: {} } });
      const at = Math.floor(Date.now() / 1_000);
      const signature = createHmac('sha256', WEBHOOK_SECRET).update(`${at}.${payload}`).digest('hex');
      const received = await service.post(new URL(webhook.url).pathname, Buffer.from(payload), {
        'content-type': 'application/json',
        'stripe-signature': `t=${at},v1=${signature}`,
      });
      expect(received.status, JSON.stringify(received.body)).to.equal(200);
      await host.nextCall('paid');
    });

    if (name !== FIRST) {
      it('held runs start when their function is resumed', async () => {
        const path = `/v1/runs?function_id=${APP}-held&limit=100`;
        expect(listed(await service.get(path)).map(({ status }) => status)).to.deep.equal(['Queued', 'Queued']);
        expect((await service.post(`/v1/functions/${APP}-held/resume`, undefined, service.apiHeaders)).status).to.equal(
          200,
        );
        expect(await runsOf('held')).to.have.lengthOf(2);
      });

      it('bulk actions continue', async () => {
        const { body } = await service.waitFor(
          '/v1/runs/bulk',
          (response) => response.body.data?.[0]?.status === 'done',
        );
        expect(body.data[0].progress).to.deep.include({ done: 1, skipped: {} });
        expect(await runsOf('rerun')).to.have.lengthOf(2);
      });

      it('logs, error groups and saved views are kept', async () => {
        const first = (await runsOf('rerun')).at(-1);
        const { body: log } = await service.get(`/v1/runs/${first?.run_id}/logs`);
        expect(JSON.stringify(log.data)).to.include(LOGGED);
        const { body: errors } = await service.get('/v1/errors');
        expect(errors.data.map(({ function_id }: ListedRun) => function_id)).to.include(`${APP}-failed`);
        const { body: views } = await service.get('/v1/views');
        expect(views.data.map((view: { name: string }) => view.name)).to.deep.equal([VIEW]);
      });
    }

    it('schedules keep their next run', async () => {
      const { body } = await service.get(`/v1/functions/${APP}-scheduled`);
      expect(JSON.stringify(body.data)).to.match(/"next[^"]*":"20\d\d-01-01T00:00:00/);
    });
  });
}
