import { expect } from 'chai';
import { postgresUrl } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { type ReplayBed, startReplayBed } from './bed.ts';

describe('A replay while Postgres is unavailable', () => {
  let bed: ReplayBed;
  let proxy: TcpProxy;
  let port: number;
  before(async () => {
    const url = new URL(postgresUrl());
    port = Number(url.port);
    proxy = await TcpProxy.start(port);
    url.port = new URL(proxy.url).port;
    url.hostname = '127.0.0.1';
    bed = await startReplayBed({ archive: true, env: { HOT_HOURS: '0.001', DATABASE_URL: url.href } });
  });
  after(async () => {
    await bed?.close();
    await proxy?.stop();
  });

  it('waits, says so, and continues later, instead of assuming that events have no runs', async () => {
    await bed.register([{ id: 'seen', triggers: [{ event: 'order/seen' }] }]);
    await bed.send([{ name: 'order/seen' }, { name: 'order/seen' }]);
    await bed.runs('seen', 'Completed', 2);
    // Nobody listens there.
    proxy.target = 1;
    proxy.cut();
    // The range reaches into the time that may be archived.
    const { id } = await bed.create({ statuses: ['none'], functions: ['shop-seen'], filter: { name: 'order/seen' } });
    const waiting = await bed.until(id, ({ waiting_because }) => waiting_because === 'archive_unavailable');
    expect(waiting.progress).to.deep.include({ started: 0 });
    const { status, body } = await bed.service.post('/v1/replays', {
      statuses: ['none'],
      received_after: new Date(Date.now() - 3_600_000).toISOString(),
      received_before: new Date().toISOString(),
      dry_run: true,
    });
    expect([status, body.code]).to.deep.equal([503, 'archive_unavailable']);
    proxy.target = port;
    const done = await bed.until(id, (replay) => replay.status === 'done');
    expect(done.progress).to.deep.include({ looked_at: 2, started: 0, skipped: {} });
    expect(done.waiting_because).to.equal(null);
  });
});
