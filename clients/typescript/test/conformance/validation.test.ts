import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { SendError } from 'tidegate';
import { eachCase, only } from '../../../../test/conformance/cases.ts';
import { expectMatch, fill } from '../../../../test/conformance/match.ts';
import { expectStored } from '../../../../test/conformance/stored.ts';
import { type Service, startService } from '../../../../test/support/service.ts';
import { useCleanEnv } from '../servers.ts';
import { clientOf } from './options.ts';

interface Case {
  title: string;
  events: { name: string; data: object }[];
  untyped?: true;
  ids?: number;
  error?: { status: number; code: string; message: string[] };
  stored?: Record<string, unknown>[];
}

const FIELDS = {
  events: true,
  untyped: 'what is refused by types alone can be sent all the same',
  ids: true,
  error: true,
  stored: true,
} as const;

describe('TypeScript conforms: validation', () => {
  useCleanEnv();
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  eachCase<Case>('validation', FIELDS, async (raw) => {
    const { events, ids, error, stored } = fill(raw, { unique: randomUUID() });
    const client = clientOf({ id: 'shop', is_dev: true, base_url: service.url });
    const outcome = await client.send(events).catch((thrown: unknown) => thrown as SendError);
    if (error) {
      only(error, ['status', 'code', 'message']);
      expect(outcome).to.be.instanceOf(SendError);
      const { status, code, message } = outcome as SendError;
      expectMatch({ status, code, message }, error);
      return;
    }
    if (outcome instanceof Error) throw outcome;
    expect(outcome.ids).to.have.length(ids ?? 0);
    if (stored) await expectStored(service, outcome.ids, stored);
  });
});
