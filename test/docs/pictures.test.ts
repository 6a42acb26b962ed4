import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { codeOf, isInCode, readLabels } from '../../scripts/lib/picture-labels.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = resolve(ROOT, 'docs/pictures');

describe('The pictures of the dashboard', () => {
  const labels = readLabels(FOLDER);

  it('show labels that the code still has; scripts/screenshots takes new ones', () => {
    const code = codeOf(ROOT);
    const gone = [...labels].flatMap(([picture, texts]) =>
      texts.filter((text) => !isInCode(text, code)).map((text) => `${picture}: ${text}`),
    );
    expect(gone).to.deep.equal([]);
  });

  it('each have labels, and are in light or in dark', () => {
    const pictures = globSync('*-{light,dark}.png', { cwd: FOLDER }).map((file) =>
      file.replace(/-(light|dark)\.png$/, ''),
    );
    expect([...labels.keys()].sort()).to.deep.equal([...new Set(pictures)].sort());
    for (const [picture, texts] of labels) expect(texts, picture).to.have.length.above(5);
  });
});
