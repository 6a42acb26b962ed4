import { expect } from 'chai';
import { parseSeed, type Seed, seededId } from '../../src/model/ids.ts';
import { type Service, startService } from '../support/service.ts';
import { eachCase } from './cases.ts';

interface Case {
  title: string;
  of: object;
  seed: string | null;
  id?: string;
}

describe('The service conforms: seeds', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  eachCase<Case>(
    'seeds',
    { of: 'the app makes the seed', seed: true, id: true },
    async ({ seed, id }) => {
      expect(seededId(parseSeed(seed as string) as Seed, 1)).to.equal(id);
      const headers = { 'x-service-sdk': 'test:v1.0.0', 'x-service-event-id-seed': seed as string };
      const { status, body } = await service.post('/e/key', { name: 'seeds/x', data: {} }, headers);
      expect([status, body.ids]).to.deep.equal([200, [id]]);
    },
    // A seed that a client rejects never reaches the service.
    ({ seed }) => seed !== null,
  );
});
