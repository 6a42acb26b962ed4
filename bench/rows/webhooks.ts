/** Verified webhooks, without a worker: compared with single events, and with the same webhook without verification. */
import { createHmac } from 'node:crypto';
import type { Benchmark, Measurement } from '../bench.ts';
import { eventOf, WEBHOOK_REQUEST } from '../payloads.ts';
import type { Measured } from '../results.ts';
import { medians } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';

const SECRET = 'a-secret-of-the-provider';
const SINGLES = 'single events';
const UNVERIFIED = 'the same webhook without verification';
const CONNECTIONS = 32;

export const webhooks: Measurement = {
  group: 'requests',
  names: ['webhooks verified, with a transform'],
  measure: (bench) => bench.withTestBed({}, (testBed) => rowOn(testBed, bench)),
};

async function rowOn(testBed: TestBed, { options: { rounds, seconds } }: Benchmark): Promise<Measured> {
  const provider = {
    provider: 'hmac',
    secrets: [SECRET],
    verification: {
      scheme: 'hmac',
      algorithm: 'sha256',
      encoding: 'hex',
      signature: { at: 'header:x-signature' },
      signed: '{body}',
    },
  };
  const verified = await testBed.service.createWebhook(provider);
  const unverified = await testBed.service.createWebhook({ ...provider, verify: false });
  const single = testBed.bodyFile(eventOf('bench/single'));
  const request = testBed.bodyFile(WEBHOOK_REQUEST);
  const signature = createHmac('sha256', SECRET).update(JSON.stringify(WEBHOOK_REQUEST)).digest('hex');
  const perSecond = async (url: string, body: string) =>
    (await testBed.loadTest(url, body, CONNECTIONS, seconds, { signature })).perSecond;

  const reached = await medians(rounds, {
    own: () => perSecond(verified, request),
    unverified: () => perSecond(unverified, request),
    singles: () => perSecond(testBed.service.eventUrl, single),
  });
  const row = {
    group: 'requests' as const,
    work: `webhooks verified, with a transform, ${CONNECTIONS} connections`,
    value: reached.own,
    unit: 'events/s',
    references: [
      { what: SINGLES, value: reached.singles },
      { what: UNVERIFIED, value: reached.unverified },
    ],
    targets: [
      { share: 0.42, of: SINGLES },
      { share: 0.9, of: UNVERIFIED },
    ],
  };
  return { rows: [row], costs: [], series: [] };
}
