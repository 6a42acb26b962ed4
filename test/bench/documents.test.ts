import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { renderBlock } from '../../bench/document-blocks.ts';
import {
  CHART_FOLDER,
  chartFiles,
  DOCUMENTS,
  fillBlocks,
  PEER_DOCUMENT,
  resultsFileOf,
} from '../../bench/documents.ts';
import type { PeerResults } from '../../bench/peers/results.ts';
import { renderPeerBlock } from '../../bench/peers/tables.ts';
import { readResults } from '../../bench/results.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

describe('Documents with figures', () => {
  for (const document of DOCUMENTS) {
    it(`${document} has the figures of its results file`, () => {
      const text = read(document);
      const name = resultsFileOf(text);
      const results = readResults(join(ROOT, name));
      expect(fillBlocks(text, name, (block) => renderBlock(block, results))).to.equal(text);
    });
  }

  it(`${PEER_DOCUMENT} has the figures of its results file`, () => {
    const text = read(PEER_DOCUMENT);
    const name = resultsFileOf(text);
    const results = readResults<PeerResults>(join(ROOT, name));
    expect(fillBlocks(text, name, (block) => renderPeerBlock(block, results))).to.equal(text);
  });

  it('all name the same results file, which is also the source of their pictures', () => {
    const names = new Set(DOCUMENTS.map((document) => resultsFileOf(read(document))));
    expect(names.size).to.equal(1);
    const [name = ''] = names;
    const made = chartFiles(readResults(join(ROOT, name)));
    expect(readdirSync(join(ROOT, CHART_FOLDER)).sort()).to.deep.equal([...made.keys()].sort());
    for (const [file, drawn] of made) expect(read(join(CHART_FOLDER, file)), file).to.equal(drawn);
  });

  it('adopt the figures of other results, and keep everything else', () => {
    const page = (name: string, table: string) =>
      `# Speed\n\n<!-- ${name}: table runs -->\n${table}\n<!-- end -->\n\nMore.\n`;
    const results = {
      at: '',
      rounds: 1,
      seconds: 1,
      machine: { cpu: '', cores: 1, memoryBytes: 1, node: '' },
      costs: [],
      series: [],
    };
    const row = { group: 'runs' as const, work: 'runs', value: 7, unit: 'runs/s', references: [], targets: [] };
    const made = fillBlocks(page('bench/results/old.json', 'what was'), 'bench/results/new.json', (block) =>
      renderBlock(block, { ...results, rows: [row] }),
    );
    expect(made).to.equal(
      page(
        'bench/results/new.json',
        '| workload | result | references | target |\n| --- | --- | --- | --- |\n| runs | 7.0 runs/s |  |  |',
      ),
    );
    expect(resultsFileOf(made)).to.equal('bench/results/new.json');
  });
});
