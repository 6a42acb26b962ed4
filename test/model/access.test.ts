import { expect } from 'chai';
import fc from 'fast-check';
import {
  ACCESS,
  type AccessLevel,
  accessAnywhere,
  accessTo,
  accessToAll,
  covers,
  type Grants,
  onlyEnvironment,
  onlyIn,
} from '../../src/model/auth/access.ts';
import { BRANCH_SET, BRANCHES, type EnvironmentRef, refOf, refOfOwner } from '../../src/model/environment.ts';

const LEVELS: readonly AccessLevel[] = ['none', ...ACCESS];
/** Names of fields that every object has, too: an environment may be called "constructor". */
const NAMES = ['production', 'staging', 'feature/x', 'constructor', 'toString', '__proto__', BRANCH_SET];

const level = fc.constantFrom(...LEVELS);
const grants: fc.Arbitrary<Grants> = fc.record({
  access: level,
  environments: fc
    .array(fc.tuple(fc.constantFrom(...NAMES), level), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries)),
});
const environment: fc.Arbitrary<EnvironmentRef> = fc
  .tuple(fc.constantFrom(...NAMES), fc.constantFrom('named', 'branch'))
  .map(([name, kind]) => refOf(name, { name, kind }));

/** The rule as the docs say it. */
function expected({ access, environments = {} }: Grants, { name, kind }: EnvironmentRef): AccessLevel {
  const named = new Map(Object.entries(environments));
  return named.get(name) ?? (kind === 'branch' ? named.get(BRANCH_SET) : undefined) ?? access;
}

describe('Access by environment', () => {
  it("is that of the environment's own entry, otherwise that of all branches for a branch, otherwise the base", () => {
    fc.assert(fc.property(grants, environment, (has, one) => accessTo(has, one) === expected(has, one)));
  });

  it('to the installation is the base alone', () => {
    fc.assert(fc.property(grants, (has) => accessTo(has) === has.access));
  });

  it('to one environment is between the access to all and the highest', () => {
    fc.assert(
      fc.property(grants, environment, fc.constantFrom(...ACCESS), (has, one, needed) => {
        if (covers(accessToAll(has), needed)) expect(covers(accessTo(has, one), needed)).to.equal(true);
        if (covers(accessTo(has, one), needed)) expect(covers(accessAnywhere(has), needed)).to.equal(true);
        expect(accessTo(has, 'unknown'), 'of an owner that is deleted').to.equal(accessToAll(has));
      }),
    );
  });

  it('of a credential that is bound to an environment is none elsewhere', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ACCESS), environment, (access, one) => {
        const bound = onlyIn('staging', access);
        expect(accessTo(bound, one)).to.equal(one.name === 'staging' ? access : 'none');
        expect([accessTo(bound), accessToAll(bound)]).to.deep.equal(['none', 'none']);
        expect(onlyEnvironment(bound)).to.equal('staging');
      }),
    );
  });

  it('an environment is selected by default only if no other one is accessible', () => {
    fc.assert(
      fc.property(grants, environment, (has, one) => {
        const only = onlyEnvironment(has);
        if (only === undefined || only === one.name) return;
        expect(accessTo(has, one)).to.equal('none');
      }),
    );
  });

  it('production is never a branch, and what branches share is theirs', () => {
    expect(refOf('production', undefined).kind).to.equal('production');
    expect(accessTo({ access: 'none', environments: { branches: 'write' } }, refOfOwner(BRANCHES))).to.equal('write');
    expect(accessTo({ access: 'none', environments: { branches: 'write' } }, refOfOwner('production'))).to.equal(
      'none',
    );
  });
});
