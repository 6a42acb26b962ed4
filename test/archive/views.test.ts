import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type pg from 'pg';
import { ulid } from 'ulid';
import { encodeHistoryEntry } from '../../src/store/runs/history-entries.ts';
import { eventRow, type OwnArchive, openArchive, runRow } from '../support/own-archive.ts';
import { connectPostgres } from '../support/postgres.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/sql.md'), 'utf8');
const VIEWS = ['v1_events', 'v1_runs', 'v1_steps', 'v1_webhook_requests'];
const DASHBOARDS = readdirSync(join(ROOT, 'deploy/grafana')).filter((file) => file.startsWith('sql-'));

// biome-ignore lint/suspicious/noExplicitAny: rows of queries
type Row = any;

describe('The views of the archive', () => {
  let archive: OwnArchive;
  let client: pg.Client;
  before(async () => {
    archive = await openArchive();
    client = await connectPostgres(archive.settings.schema);
  });
  after(async () => {
    await client.end();
    await archive.close();
  });

  const query = async (text: string): Promise<Row[]> => (await client.query(text)).rows;
  const now = Date.now();

  it('have events with their payload, and null for what Postgres cannot read', async () => {
    const plain = eventRow({
      name: 'order/paid',
      data: { order: 'A7' },
      dedupId: 'd',
      duplicates: 2,
      source: 'webhook:w',
    });
    const odd = eventRow({ name: 'odd/x', data: { text: 'nul\u0000' } });
    await archive.shipments.ship({ events: [plain, odd], runs: [] });
    const [first, second] = await query('SELECT * FROM v1_events ORDER BY name DESC');
    expect(first).to.deep.include({
      environment: 'production',
      id: plain.id,
      name: 'order/paid',
      source: 'webhook:w',
      deduplication_id: 'd',
      duplicates: 2,
      data: { order: 'A7' },
      user: null,
    });
    expect(first.received_at.getTime()).to.equal(plain.at);
    expect([second.id, second.data]).to.deep.equal([odd.id, null]);
  });

  it('have runs and steps, of this form of the history and of the first one', async () => {
    const event = ulid();
    const history = [
      encodeHistoryEntry({
        kind: 'attempt',
        status: 'Failed',
        startedAt: now,
        endedAt: now + 5,
        attempt: 1,
        error: { name: 'E', message: 'no' },
      } as Row),
      encodeHistoryEntry({
        kind: 'step',
        status: 'Completed',
        startedAt: now + 10,
        endedAt: now + 30,
        stepId: 's',
        name: 'charge',
        op: 'Step',
      } as Row),
      JSON.stringify({
        kind: 'step',
        status: 'Completed',
        startedAt: now,
        endedAt: now + 1,
        name: 'first',
        op: 'Step',
      }),
      JSON.stringify({ stepId: 'x', endedAt: now + 9, pending: { since: now, name: 'nap', op: 'Sleep' } }),
    ];
    const run = runRow({
      status: 'Failed',
      functionId: 'shop-ship',
      eventId: event,
      batch: [event, ulid()],
      error: 'E: no',
      output: '{"a":1}',
      history: JSON.stringify(history),
    });
    await archive.shipments.ship({ events: [], runs: [run, runRow({ output: '"\\u0000"' })] });
    const [found, other] = await query("SELECT * FROM v1_runs ORDER BY function_id = 'shop-ship' DESC");
    expect(found).to.deep.include({
      id: run.id,
      event_id: event,
      event_ids: run.batch,
      status: 'Failed',
      error: 'E: no',
      output: { a: 1 },
    });
    expect([found.queued_at.getTime(), found.ended_at.getTime()]).to.deep.equal([run.at, run.endedAt]);
    expect([other.output, other.event_ids]).to.deep.equal([null, null]);
    const steps = await query('SELECT * FROM v1_steps ORDER BY number');
    expect(
      steps.map(({ kind, name, op, status, attempt, error }) => [kind, name, op, status, attempt, error]),
    ).to.deep.equal([
      ['attempt', null, null, 'Failed', 1, 'no'],
      ['step', 'charge', 'Step', 'Completed', null, null],
      ['step', 'first', 'Step', 'Completed', null, null],
      ['step', 'nap', 'Sleep', 'Cancelled', null, null],
    ]);
    expect(steps.map(({ started_at, ended_at }) => ended_at - started_at)).to.deep.equal([5, 20, 1, 9]);
  });

  it('have webhook requests, until their webhook is deleted', async () => {
    const row = (webhookId: string, summary: object) => ({
      id: ulid(now),
      at: now,
      webhookId,
      outcome: 'rejected',
      verification: undefined,
      status: 401,
      eventName: undefined,
      summary: JSON.stringify({
        method: 'POST',
        ip: '192.0.2.1',
        reason: 'verification_failed',
        bodyBytes: 7,
        durationMs: 1.5,
        ...summary,
      }),
      request: '{}',
      body: undefined,
    });
    await archive.requestShipments.ship([row('w1', { verification: { result: 'failed' } }), row('w2', {})], 30);
    await archive.requests.remove(new Map([['w2', now]]));
    const requests = await query('SELECT * FROM v1_webhook_requests');
    expect(requests).to.have.length(1);
    expect(requests[0]).to.include({
      webhook_id: 'w1',
      reason: 'verification_failed',
      verification: 'failed',
      duration_ms: '1.5',
      recovered: false,
    });
  });

  it('are described on the page, column by column', async () => {
    for (const view of VIEWS) {
      const columns = await query(
        `SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = '${view}'`,
      );
      const section = PAGE.slice(PAGE.indexOf(`| \`${view}\` |`)).split('\n\n')[0] ?? '';
      const described = [...section.matchAll(/^\| (`[^|]*`) \|/gm)]
        .slice(1)
        .flatMap(([, names = '']) => names.match(/\w+/g) ?? []);
      expect(described.sort(), view).to.deep.equal(columns.map(({ column_name }) => column_name).sort());
    }
  });

  it('are all that the role of the page can read, and the queries of the page and of the dashboards run as it', async () => {
    const { schema } = archive.settings;
    const role = `reader_${schema}`;
    const [, statements = ''] = /```sql reader\n([\s\S]*?)```/.exec(PAGE) ?? [];
    await client.query(statements.replaceAll('tidegate_reader', role).replaceAll(/\btidegate\b/g, schema));
    try {
      await client.query(`SET ROLE ${role}`);
      const pages = Array.from(PAGE.matchAll(/```sql query\n([\s\S]*?)```/g), ([, text]) => text as string);
      const panels = DASHBOARDS.flatMap(
        (file) => JSON.parse(readFileSync(join(ROOT, 'deploy/grafana', file), 'utf8')).panels,
      );
      const queries = [...pages, ...panels.map(({ targets: [{ rawSql }] }: Row) => rawSql as string)];
      expect(queries).to.have.length(12);
      for (const text of queries) {
        const given = text.replaceAll(/\$\{__(from|to)\}/g, (_, end) =>
          String(end === 'from' ? now - 86_400_000 : now + 1_000),
        );
        await client.query(given.replaceAll('$environment', 'production'));
      }
      for (const table of ['events', 'runs', 'environments', 'webhook_requests']) {
        const error = await client.query(`SELECT FROM ${table}`).catch(({ message }) => message);
        expect(error).to.equal(`permission denied for table ${table}`);
      }
    } finally {
      await client.query(`RESET ROLE; DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });

  it('read only the days of a condition on milliseconds', async () => {
    const plan = await query(`EXPLAIN SELECT count(*) FROM v1_events WHERE received_ms > ${now + 10 * 86_400_000}`);
    expect(JSON.stringify(plan)).to.not.match(/events_r30_\d{8}/);
  });
});
