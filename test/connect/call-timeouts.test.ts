import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { ConnectCaller, type ConnectCallerOptions } from '../../src/jobs/connect/connect-caller.ts';

describe('A call over a connection', () => {
  it('that times out while Redis is slow to take it fails alone, and not its worker', async () => {
    const unhandled: unknown[] = [];
    const keep = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', keep);
    const sent = Promise.withResolvers<boolean>();
    const finished: string[] = [];
    const caller = new ConnectCaller({
      ids: { derived: () => 'call' },
      calls: {
        reserve: async () => ({ kind: 'assigned', connectionId: 'c', gatewayId: 'g', leaseId: 'l' }),
        send: () => sent.promise,
        finish: async ({ callId }: { callId: string }) => void finished.push(callId),
      },
      timeoutMs: 1,
    } as unknown as ConnectCallerOptions);
    const context = { run: { env: 'production', id: 'run', attempt: 0 }, jobId: 'job' };
    const fn = { app: 'shop', id: 'shop-ship' };
    type Call = Parameters<typeof caller.call>;
    // Node looks for rejections without a handler at the end of a turn of the event loop.
    const timedOut = setTimeout(50);
    const call = caller.call(fn as Call[0], context as Call[1], '{}', {});
    const outcome = call.then(
      () => 'a response',
      (error: Error) => error.name,
    );
    await timedOut;
    sent.resolve(true);
    expect(await outcome).to.equal('TimeoutError');
    process.off('unhandledRejection', keep);
    expect(unhandled, 'each would end the process').to.deep.equal([]);
    expect(finished).to.deep.equal(['call']);
    expect(caller.inProgress).to.equal(0);
  });
});
