import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { durationMs, momentMs } from '../../src/model/values/time.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { type Service, startService } from '../support/service.ts';
import { type Loose, Outside } from './outside.ts';

const APP = 'answers-go';

/** In the SDK's format: missing values are null. */
const NOTHING = { opts: null, data: null, error: null, displayName: null };
const op = (kind: string, name: string, rest: object) => {
  const id = createHash('sha1').update(name).digest('hex');
  return { op: kind, id, name, ...NOTHING, userland: { id: name }, ...rest };
};

describe('Responses of the official Go SDK', () => {
  let service: Service;
  let host: AppHost;
  before(async () => {
    service = await startService();
    host = await startAppHost();
  });
  after(async () => {
    await host?.close();
    await service?.stop();
  });

  /** Runs a function that sends these responses, one per call, and then completes. @returns the memos of its last call */
  async function memosAfter(fnId: string, responses: Loose[]): Promise<Loose> {
    host.on(fnId, ({ number }) => (number < responses.length ? { status: 206, body: [responses[number]] } : {}));
    const options = { appName: APP, dialect: 'inngest' } as const;
    await host.register(service, [{ id: fnId, triggers: [{ event: `${APP}/${fnId}` }], retries: 0 }], options);
    const outside = new Outside(service, APP);
    await outside.output(await outside.send(fnId));
    return host.calls(fnId).at(-1)?.body.steps;
  }

  it('have step errors with `data`, without which the SDK could not read them', async () => {
    const without = op('StepFailed', 'a', { error: { name: 'Step failed', message: 'broken', data: null } });
    const data = { n: 0 };
    const withData = op('StepError', 'b', { error: { name: 'Step error', message: 'broken', data } });
    expect(await memosAfter('fails', [without, withData])).to.deep.equal({
      [without.id]: { error: { name: 'Step failed', message: 'broken', data: null } },
      [withData.id]: { error: { name: 'Step error', message: 'broken', data } },
    });
  });

  it('have sleep durations in nanoseconds, negative for the past', async () => {
    const sleeps = ['99ms998us998ns', '-1h', '-4m59s999ms987us6ns'].map((duration) =>
      op('Sleep', duration, { opts: { duration } }),
    );
    const memos = await memosAfter('sleeps', sleeps);
    expect(memos).to.deep.equal(Object.fromEntries(sleeps.map(({ id }) => [id, null])));
  });

  it('have durations whose parts add up to milliseconds', () => {
    expect(durationMs('1w2d3h4m5s6ms7us8ns')).to.equal(788_645_006);
    expect(durationMs('99ms998us998ns')).to.equal(100);
    expect(momentMs('1s500us', 1_000)).to.equal(2_001);
    expect(momentMs('-1s', 5_000)).to.equal(4_000);
    for (const wrong of ['--1s', '1s-', '-', '- 1s', '5us-1ns']) expect(momentMs(wrong, 0), wrong).to.equal(undefined);
  });
});
