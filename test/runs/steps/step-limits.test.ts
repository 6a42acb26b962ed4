import { expect } from 'chai';
import { op, useStepBed } from './step-bed.ts';

describe('The limits of a run with steps', () => {
  const bed = useStepBed();

  it('a run with more than 1,000 steps fails with a clear error', async () => {
    const PER_CALL = process.env.TEST_ALL ? 1 : 50;
    bed.host.on('f', ({ body: { ctx } }) => ({
      status: 206,
      body: Array.from({ length: PER_CALL }, (_, i) => op('StepRun', ctx.stack.current + i, { data: 1 })),
    }));
    await bed.host.register(bed.service, [{ id: 'f', triggers: [{ event: 'many/x' }] }], { appName: 'many' });
    const id = await bed.send({ name: 'many/x', data: {} });
    await bed.service.waitFor(`/v1/events/${id}/runs`, ({ body }) => body.data?.[0]?.ended_at, 110_000);
    const run = await bed.ended(id);
    expect(run.status).to.equal('Failed');
    expect(run.error).to.include({ name: 'TooManySteps' });
    expect(run.error.message).to.include('1000 steps');
    expect(bed.host.calls('f').length, 'not before').to.be.at.least(1_000 / PER_CALL);
  });

  it('a run whose steps exceed 32 MiB fails with a clear error', async () => {
    const large = 'x'.repeat(4 * 1_024 * 1_024 - 100);
    bed.host.on('f', ({ body }) => ({ status: 206, body: [op('StepRun', body.ctx.stack.current, { data: large })] }));
    await bed.host.register(bed.service, [{ id: 'f', triggers: [{ event: 'heavy/x' }] }], { appName: 'heavy' });
    const run = await bed.ended(await bed.send({ name: 'heavy/x', data: {} }));
    expect(run.error).to.include({ name: 'StateTooLarge' });
    expect(run.error.message).to.include('33554432 bytes');
  });

  it('an invalid operation fails the run with the reason', async () => {
    for (const [bad, name] of [
      [op('Sleep', 1, { name: 'a while' }), 'InvalidSleep'],
      [op('WaitForEvent', 1, { name: 'x/y', opts: { timeout: 'soon' } }), 'InvalidTimeout'],
      [op('WaitForEvent', 1, { name: 'x/y', opts: { timeout: '1h', if: 'async.data.x ==' } }), 'InvalidExpression'],
    ] as const) {
      const appName = `bad-${name}`;
      bed.host.on(name, () => ({ status: 206, body: [bad] }));
      await bed.host.register(bed.service, [{ id: name, triggers: [{ event: `bad/${name}` }] }], { appName });
      const run = await bed.ended(await bed.send({ name: `bad/${name}`, data: {} }));
      expect([run.status, run.error.name, run.attempt]).to.deep.equal(['Failed', name, 0]);
    }
  });
});
