import { expect } from 'chai';
import { completionsFor } from '../../dashboard/src/pages/webhooks/workbench/completions.ts';
import { pageOf } from '../docs/examples.ts';

describe('Completions of a transform', () => {
  it('name functions that docs/transforms.md lists and transforms have', () => {
    const sample = { body: '{}', headers: {}, query: '' };
    const functions = completionsFor('', sample as never).filter(({ type }) => type === 'function');
    const [, section = ''] = pageOf('transforms.md').split('### Functions of a transform\n');
    expect(functions.length).to.be.greaterThan(10);
    for (const { label } of functions)
      expect(section, label).to.include(label.replace('Uint8Array.fromHex', '.fromHex'));
  });
});
