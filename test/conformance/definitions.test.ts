import { expect } from 'chai';
import { registrationSchema } from '../../src/model/apps/app.ts';
import { checkFunctions } from '../../src/model/apps/registered-functions.ts';
import { FUNCTION_LIMITS } from '../support/function-limits.ts';
import { eachCase } from './cases.ts';

interface Case {
  title: string;
  function: { id: string; retries?: unknown; triggers: unknown[]; options?: object; [flowControl: string]: unknown };
  untyped?: boolean;
  flaw: string[] | null;
}

const FIELDS = { function: true, untyped: 'a registration has no types', flaw: true } as const;

describe('The service conforms: definitions', () => {
  // The service stores unknown options for future versions, lowers a number of retries that is too large, and takes a concurrency of 0,
  // which official SDKs send, for none.
  const LENIENT = /perid|^\{\{field concurrency.*got 0$/;
  const refuses = ({ flaw, function: { retries, options } }: Case) =>
    flaw === null || !(options || Number(retries) > 20 || flaw.some((words) => LENIENT.test(words)));
  eachCase<Case>(
    'definitions',
    FIELDS,
    ({ function: { id, retries, triggers, options: _, ...flow }, flaw }) => {
      const runtime = { url: 'https://shop.example/api' };
      const step = { id: 'step', runtime, ...(retries !== undefined && { retries: { attempts: retries } }) };
      const app = { url: runtime.url, appName: 'shop', functions: [{ id, triggers, steps: { step }, ...flow }] };
      const [checked] = [...checkFunctions(registrationSchema.parse(app), 'service', FUNCTION_LIMITS)].filter(Boolean);
      expect(checked && 'registered' in checked, JSON.stringify(checked)).to.equal(flaw === null);
      if (checked && 'registered' in checked) expect(checked.registered.problems).to.equal(undefined);
    },
    refuses,
  );
});
