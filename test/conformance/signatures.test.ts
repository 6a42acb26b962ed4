import { expect } from 'chai';
import { hashedKey, sign } from '../../src/functions/signing.ts';
import { startService } from '../support/service.ts';
import { eachCase, readTopic } from './cases.ts';

interface Case {
  title: string;
  body: string;
  header: string | null;
  now: number;
  keys: string[];
  flaw: string[] | null;
  bearer: string;
}

const FIELDS = {
  body: true,
  header: true,
  now: 'the service signs now',
  keys: true,
  flaw: true,
  bearer: true,
} as const;

describe('The service conforms: signatures', () => {
  eachCase<Case>('signatures', FIELDS, ({ body, header, keys, flaw, bearer }) => {
    expect(`Bearer ${hashedKey(keys[0] as string)}`).to.equal(bearer);
    const fields = new URLSearchParams(header ?? '');
    const given = `t=${fields.get('t')}&s=${fields.get('s')?.toLowerCase()}`;
    const made = keys.map((key) => sign(body, key, Number(fields.get('t')) * 1_000));
    const right = flaw === null || flaw.join().includes('older');
    expect(made.includes(given)).to.equal(right);
  });

  it('accepts only the bearer token of its own key', async () => {
    const { cases } = readTopic<Case>('signatures');
    const bearers = new Map(cases.map(({ keys, bearer }) => [keys[0] as string, bearer]));
    const [own = ''] = bearers.keys();
    const service = await startService({ dev: false, workers: 0, env: { SIGNING_KEY: own } });
    try {
      const registration = { url: 'https://shop.example/api', appName: 'shop', sdk: 'test:v1.0.0', functions: [] };
      for (const [key, authorization] of bearers) {
        const headers = { 'x-service-sdk': 'test:v1.0.0', authorization };
        const { status } = await service.post('/fn/register', registration, headers);
        expect([key, status]).to.deep.equal([key, key === own ? 200 : 401]);
      }
    } finally {
      await service.stop();
    }
  });
});
