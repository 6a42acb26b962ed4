import { expect } from 'chai';
import fc from 'fast-check';
import { pickFields } from '../../src/model/webhooks/large-bodies.ts';

describe('The fields of a large body', () => {
  const body = {
    action: 'opened',
    repository: { full_name: 'a/b', owner: { login: 'ada' } },
    commits: [{ id: 1, files: ['x', 'y'] }, { id: 2 }, 'no object'],
    'dotted.name': 1,
  };

  for (const [what, paths, expected] of [
    ['a field', ['action'], { action: 'opened' }],
    ['a field of an object', ['repository.full_name'], { repository: { full_name: 'a/b' } }],
    ['a whole object', ['repository.owner'], { repository: { owner: { login: 'ada' } } }],
    [
      'a path and one that leads further, in either order',
      ['repository.owner.login', 'repository.owner', 'repository.owner.login'],
      { repository: { owner: { login: 'ada' } } },
    ],
    [
      'a field of each item of a list, null where an item has none',
      ['commits.*.id'],
      { commits: [{ id: 1 }, { id: 2 }, null] },
    ],
    ['lists in lists', ['commits.*.files.*'], { commits: [{ files: ['x', 'y'] }, {}, null] }],
    ['nothing of a list without "*"', ['commits.id'], {}],
    ['nothing that is missing, or inherited', ['none', 'action.length', 'toString', '__proto__.x'], {}],
    ['nothing without paths', [], {}],
  ] as const) {
    it(`are ${what}`, () => {
      expect(pickFields(body, paths)).to.deep.equal(expected);
    });
  }

  it('are an empty object of a body that is no object', () => {
    for (const value of [null, 1, 'x', [1]]) expect(pickFields(value, ['a'])).to.deep.equal({});
  });

  it('are part of the body, whatever the body and the paths are', () => {
    const names = fc.constantFrom('a', 'b', '__proto__', '*', '0');
    const paths = fc.array(
      fc.array(names, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.')),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(fc.object({ key: names, maxDepth: 3 }), paths, (value, chosen) => {
        const json = JSON.parse(JSON.stringify(value));
        expect(isPart(pickFields(json, chosen), json), JSON.stringify({ json, chosen })).to.equal(true);
      }),
    );
  });
});

function isPart(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.every((item, i) => item === null || isPart(item, whole[i]));
  }
  if (typeof part !== 'object' || part === null) return Object.is(part, whole);
  return (
    typeof whole === 'object' &&
    whole !== null &&
    Object.keys(part).every((name) =>
      isPart(Reflect.get(part, name), Object.hasOwn(whole, name) ? Reflect.get(whole, name) : undefined),
    )
  );
}
