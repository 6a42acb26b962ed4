import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type Service, startService } from '../support/service.ts';
import { eachCase, only } from './cases.ts';
import { expectMatch, fill } from './match.ts';
import { expectStored } from './stored.ts';

interface Case {
  title: string;
  events: object;
  untyped?: true;
  ids?: number;
  error?: { status: number; code: string; message: string[] };
  stored?: Record<string, unknown>[];
}

const FIELDS = { events: true, untyped: 'a request has no types', ids: true, error: true, stored: true } as const;

describe('The service conforms: validation', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  eachCase<Case>('validation', FIELDS, async (raw) => {
    const { events, ids, error, stored } = fill(raw, { unique: randomUUID() });
    const { status, body } = await service.post('/e/key', events);
    if (error) {
      only(error, ['status', 'code', 'message']);
      expectMatch({ status, code: body.code, message: body.error }, error);
      expect(body).not.to.have.property('ids');
      return;
    }
    expect([status, body.ids?.length]).to.deep.equal([200, ids]);
    if (stored) await expectStored(service, body.ids, stored);
  });
});
