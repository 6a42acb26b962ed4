import { expect } from 'chai';
import { findKeys } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { op, useStepBed } from './step-bed.ts';

describe('The time of a run with steps', () => {
  const bed = useStepBed();

  it('a run on an event with a future ts starts at that time', async () => {
    await bed.host.register(bed.service, [{ id: 'f', triggers: [{ event: 'future/x' }] }], { appName: 'future' });
    const ts = Date.now() + 1_500;
    const id = await bed.send({ name: 'future/x', data: {}, ts });
    const { body } = await bed.service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.length === 1);
    expect(body.data[0].status).to.equal('Queued');
    const run = await bed.ended(id);
    expect(Date.parse(run.run_started_at)).to.be.at.least(ts);
  });

  it('a run that sleeps longer than the retention keeps its event', async () => {
    bed.host.on('f', () => ({ status: 206, body: [op('Sleep', 1, { name: '30d' })] }));
    await bed.host.register(bed.service, [{ id: 'f', triggers: [{ event: 'long/x' }] }], { appName: 'long' });
    const id = await bed.send({ name: 'long/x', data: {} });
    await bed.host.nextCall('f');
    const day = 86_400_000;
    const event = `${bed.service.keys.of(id).prefix}:overflow-event:production:${id}`;
    await until(async () => (await bed.service.redis.pttl(event)) > 33 * day, {
      describe: 'the event is kept for 30 days and half the retention',
    });
  });

  it('runs leave only keys that expire', async () => {
    bed.host.on('f', ({ number }) =>
      number === 0 ? { status: 206, body: [op('StepRun', 1, { data: 1 })] } : { body: 'done' },
    );
    await bed.host.register(
      bed.service,
      [{ id: 'f', triggers: [{ event: 'expire/x' }], cancel: [{ event: 'expire/c' }] }],
      {
        appName: 'expire',
      },
    );
    const run = await bed.ended(await bed.send({ name: 'expire/x', data: {} }));
    const keys = await findKeys(bed.service.redis, bed.service.prefix, new RegExp(run.run_id));
    const own = keys.filter((key) => !key.includes(':queue:'));
    expect(own.length).to.be.greaterThan(0);
    for (const key of own) expect(await bed.service.redis.pttl(key), key).to.be.greaterThan(0);
    expect(
      await bed.service.redis.zscore(
        `${bed.service.keys.of(run.run_id).prefix}:active-runs`,
        `production/${run.run_id}`,
      ),
    ).to.equal(null);
    await until(
      async () =>
        (await bed.service.redis.exists(
          `${bed.service.keys.homesOf('production', 'expire/c')[0].prefix}:waits:production:expire/c`,
        )) === 0,
      {
        describe: 'nothing waits',
      },
    );
  });
});
