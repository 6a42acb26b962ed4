import { expect } from 'chai';
import { runOfRow, runRowOf } from '../../src/archive/run-row.ts';
import { RUN_FIELDS } from '../../src/store/keys/run-fields.ts';
import type { RunContents } from '../../src/store/runs/archivable-runs.ts';
import { toRun } from '../../src/store/runs/run-record.ts';
import { runRow } from '../support/own-archive.ts';

const NOON = Date.UTC(2026, 5, 15, 12);
const ID = '01M7Z7A7B6FJ7DZJVGC757486T';
const OTHER = '01M7Z7A7B6FJ7DZJVGC757486V';

function stored(fields: Record<string, string> = {}, parts: Partial<RunContents> = {}): RunContents {
  const record = JSON.parse(runRow({ at: NOON, eventId: ID }).record) as Record<string, string>;
  return {
    env: 'production',
    id: ID,
    fields: { ...record, ...fields },
    version: '',
    memos: {},
    stack: [],
    history: [],
    metadata: {},
    logs: {},
    ...parts,
  };
}

const FIELDS: Record<string, Record<string, string>> = {
  completed: { o: '{"total":3,"text":"\\u0000 \\ud800"}' },
  'completed with null': { o: 'null' },
  failed: { s: 'Failed', error: '{"name":"Error","message":"no \\u0000"}', a: '3', o: '{"errors":1}' },
  'failed with an error that is not JSON': { s: 'Failed', error: 'oh' },
  cancelled: { s: 'Cancelled', c: '{"cause":"request"}' },
  'of a batch': { batch: ID + OTHER },
  're-run from a step': { retry_of: OTHER, from_step: 'a'.repeat(40), step_input: '[1]', earlier_runs: OTHER },
  invoked: { invoker_run: OTHER, invoker_step: 'nul \0' },
  'with keys, functions deferred, and a trace': { k: '{"concurrency":["a"]}', defers: '2', trace: '00-a-b-01' },
  'that never began': { s: 'Cancelled', b: '' },
};

describe('The row of a run', () => {
  for (const [title, fields] of Object.entries(FIELDS)) {
    it(`is read like the run in Redis: ${title}`, () => {
      const run = stored(fields);
      const row = runRowOf(run);
      const back = runOfRow('production', ID, { record: row.record, output: row.output ?? null });
      expect(back).to.deep.equal(toRun('production', ID, run.fields));
    });
  }

  it('has the fields by which runs are found', () => {
    const error = JSON.stringify({ name: 'TypeError', message: 'x'.repeat(5_000) });
    const row = runRowOf(stored({ f: 'app-fn', s: 'Failed', error, x: String(NOON + 7), batch: ID + OTHER }));
    expect(row).to.include({ functionId: 'app-fn', status: 'Failed', at: NOON, endedAt: NOON + 7, eventId: ID });
    expect(row.batch).to.deep.equal([ID, OTHER]);
    expect(row.error)
      .to.match(/^TypeError: x+$/)
      .and.have.length(1_000);
    expect(row.output).to.equal(undefined);
  });

  it('has the parts of the run as JSON, and nothing for missing parts', () => {
    const memos = { a: '{"data":"\\u0000"}' };
    const row = runRowOf(
      stored(
        {},
        {
          memos,
          stack: ['a'],
          history: ['{"kind":"step"}'],
          metadata: { 'x\ny': '1' },
          logs: { n: '1', 0: '{"at":1}', d: '2', m: '1' },
        },
      ),
    );
    expect(JSON.parse(row.memos ?? '')).to.deep.equal(memos);
    expect(JSON.parse(row.stack ?? '')).to.deep.equal(['a']);
    expect(JSON.parse(row.history ?? '')).to.deep.equal(['{"kind":"step"}']);
    expect(JSON.parse(row.metadata ?? '')).to.deep.equal({ 'x\ny': '1' });
    expect(JSON.parse(row.logs ?? '')).to.deep.equal({ lines: ['{"at":1}'], dropped: 2 });
    const { memos: none, stack, history, metadata, logs } = runRowOf(stored());
    expect([none, stack, history, metadata, logs]).to.deep.equal(Array(5).fill(undefined));
  });

  it('exists for ended runs only', () => {
    expect(() => runRowOf(stored({ [RUN_FIELDS.status]: 'Running' }))).to.throw('is Running');
  });
});
