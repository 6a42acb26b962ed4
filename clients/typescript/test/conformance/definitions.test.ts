import { expect } from 'chai';
import { eachCase } from '../../../../test/conformance/cases.ts';
import { clientOf, type FunctionCase, functionOf } from './options.ts';

interface Case {
  title: string;
  function: FunctionCase & { options?: object };
  untyped?: boolean;
  flaw: string[] | null;
}

const FIELDS = { function: true, untyped: 'the types refuse it too: see types.ts', flaw: true } as const;

/** Other clients spell options in their way. */
const FIELD = /\{\{field ([^}]+)\}\}/g;

describe('TypeScript conforms: definitions', () => {
  eachCase<Case>('definitions', FIELDS, ({ function: { options, ...given }, flaw }) => {
    const client = clientOf({ id: 'shop' });
    const define = () => {
      if (options) client.createFunction({ id: given.id, triggers: given.triggers, ...options }, () => null);
      else functionOf(client, given);
    };
    if (flaw === null) return define();
    expect(define).to.throw(TypeError);
    for (const words of flaw) expect(define).to.throw(words.replace(FIELD, '$1'));
    expect(define).to.throw('"fn"');
  });
});
