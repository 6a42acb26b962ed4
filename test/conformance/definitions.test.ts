import { expect } from 'chai';
import { registrationSchema } from '../../src/model/apps/app.ts';
import { eachCase } from './cases.ts';

interface Case {
  title: string;
  function: { id: string; retries?: unknown; triggers: unknown[]; options?: object };
  untyped?: boolean;
  flaw: string[] | null;
}

const FIELDS = { function: true, untyped: 'a registration has no types', flaw: true } as const;

describe('The service conforms: definitions', () => {
  // The service stores unknown options for future versions, and does not validate schedules yet.
  const refuses = ({ flaw, function: { triggers, options } }: Case) =>
    flaw === null || !(options || JSON.stringify(triggers).includes('cron') || flaw.includes('perid'));
  eachCase<Case>(
    'definitions',
    FIELDS,
    ({ function: { id, retries, triggers }, flaw }) => {
      const runtime = { url: 'https://shop.example/api' };
      const step = { id: 'step', runtime, ...(retries !== undefined && { retries: { attempts: retries } }) };
      const app = { url: runtime.url, appName: 'shop', functions: [{ id, triggers, steps: { step } }] };
      expect(registrationSchema.safeParse(app).success).to.equal(flaw === null);
    },
    refuses,
  );
});
