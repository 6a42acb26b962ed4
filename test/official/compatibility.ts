/** What the tests have observed of each SDK: docs/compatibility.md is generated from it. `RECORD_COMPATIBILITY=1` has
 *  the tests write what they see instead of comparing it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import type { Effect } from './features.ts';

const FILE = resolve(import.meta.dirname, 'compatibility.json');

export interface Row {
  feature: string;
  /** By SDK. */
  effects: Record<string, Effect>;
  /** A test that shows the feature, for rows that have neither a scenario nor a probe. */
  shown_by?: { file: string; title: string };
}

interface Recorded {
  sdks: { name: string; version: string }[];
  groups: { rows: Row[] }[];
}

const recorded = JSON.parse(readFileSync(FILE, 'utf8')) as Recorded;

export const SDKS = recorded.sdks;
export const ROWS: Row[] = recorded.groups.flatMap(({ rows }) => rows);

/** Compares the effect with the recorded one, or records it. */
export function expectEffect(feature: string, sdk: string, effect: Effect | undefined): void {
  const row = ROWS.find((row) => row.feature === feature);
  if (!row) throw new Error(`test/official/compatibility.json has no row for ${feature}`);
  if (process.env.RECORD_COMPATIBILITY && effect) {
    row.effects[sdk] = effect;
    writeFileSync(FILE, `${JSON.stringify(recorded, undefined, 2)}\n`);
  }
  expect(effect, `${feature} in ${sdk}`).to.equal(row.effects[sdk]);
}
