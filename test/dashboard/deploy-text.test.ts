import { expect } from 'chai';
import type { Deploy } from '../../dashboard/src/api/types.ts';
import { deployText } from '../../dashboard/src/features/deploys/deploy-text.ts';

const NONE = { added: [], removed: [], changed: [], omitted: 0 };

function text(functions: Partial<Deploy['functions']>, more: Partial<Deploy> = {}): string {
  const facts = { sdk: 'js:v1', framework: null, deploy_id: null, first: false, changes: [] };
  return deployText({ ...facts, ...more, functions: { ...NONE, ...functions } } as unknown as Deploy);
}

describe('The text of a deploy', () => {
  it('counts functions as people write them: a failure handler belongs to its function', () => {
    const added = ['shop-a', 'shop-b', 'shop-c', 'shop-d', 'shop-e', 'shop-e-failure'];
    expect(text({ added }, { first: true })).to.equal('first registration, 5 functions and 1 failure handler added');
    expect(text({ added: ['shop-a'], changed: [{ id: 'shop-b', fields: [] }] })).to.equal(
      '1 function added, 1 changed',
    );
    expect(text({ added: ['shop-a'], removed: ['x', 'x-failure', 'y', 'y-failure'] })).to.equal(
      '1 function added, 2 functions and 2 failure handlers removed',
    );
  });

  it('counts a function whose ID only looks like that of a handler', () => {
    expect(text({ added: ['shop-disk-failure', 'shop-a'], omitted: 7 })).to.equal('2 functions added, 7 more changed');
  });
});
