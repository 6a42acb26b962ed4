import { expect } from 'chai';
import { registrationSchema } from '../../src/model/apps/app.ts';
import { checkFunctions } from '../../src/model/apps/registered-functions.ts';
import { FLOW_FIELDS } from '../../src/model/flow-control/given-options.ts';
import { FUNCTION_LIMITS } from '../support/function-limits.ts';
import { blocksOf, jsonOf, pageOf } from './examples.ts';

const PAGE = pageOf('protocol.md');
const SECTION = /^### Flow control$.*?^## /ms.exec(PAGE)?.[0] ?? '';

describe('Flow control in docs/protocol.md', () => {
  it('has a row for every field', () => {
    const rows = [...SECTION.matchAll(/^\| `(\w+)` \|/gm)].map(([, field]) => field);
    expect(rows).to.deep.equal([...FLOW_FIELDS]);
  });

  it('shows the problem of a refused function as the service reports it', () => {
    const [registration] = jsonOf(blocksOf(PAGE), 'registration');
    const [refused] = jsonOf(blocksOf(PAGE), 'refused');
    const throttle = { limit: 1, period: '30d' };
    const functions = [{ ...registration.functions[0], id: refused.id, throttle }];
    const parsed = registrationSchema.parse({ ...registration, functions });
    const checked = [...checkFunctions(parsed, 'service', FUNCTION_LIMITS)].filter(Boolean);
    expect(checked).to.deep.equal([{ refused }]);
  });
});
