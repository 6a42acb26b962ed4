/** Writes the tables and pictures of the documents from a results file, by default from the newest of each kind:
 *  node bench/update-docs.ts [bench/results/<date>.json or bench/results/peers-<date>.json] */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { runMain } from '../scripts/lib/problem.ts';
import { renderBlock } from './document-blocks.ts';
import { CHART_FOLDER, chartFiles, DOCUMENTS, fillBlocks, PEER_DOCUMENT } from './documents.ts';
import type { PeerResults } from './peers/results.ts';
import { renderPeerBlock } from './peers/tables.ts';
import { ROOT } from './processes.ts';
import { readResults } from './results.ts';

const OF_PEERS = 'peers-';

await runMain(async () => {
  const [given] = process.argv.slice(2);
  const files = given ? [resolve(given)] : newest();
  for (const file of files) {
    if (basename(file).startsWith(OF_PEERS)) {
      const results = readResults<PeerResults>(file);
      fill(PEER_DOCUMENT, file, (block) => renderPeerBlock(block, results));
    } else {
      const results = readResults(file);
      for (const document of DOCUMENTS) fill(document, file, (block) => renderBlock(block, results));
      writeCharts(chartFiles(results));
    }
  }
});

function fill(document: string, file: string, render: (block: string) => string): void {
  const path = join(ROOT, document);
  const name = relative(ROOT, file);
  writeFileSync(path, fillBlocks(readFileSync(path, 'utf8'), name, render));
  console.log(`Wrote ${document} from ${name}`);
}

function writeCharts(charts: Map<string, string>): void {
  const dir = join(ROOT, CHART_FOLDER);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  for (const [name, drawn] of charts) writeFileSync(join(dir, name), drawn);
}

function newest(): string[] {
  const dir = join(ROOT, 'bench/results');
  const names = readdirSync(dir).sort();
  const last = [false, true].map((ofPeers) => names.findLast((name) => name.startsWith(OF_PEERS) === ofPeers));
  return last.flatMap((name) => (name ? [join(dir, name)] : []));
}
