import { expect } from 'chai';
import { createArchive } from '../../src/archive/archive.ts';
import { createHistory } from '../../src/history/history.ts';
import { shipAuditEntries } from '../../src/jobs/archive/audit-entries.ts';
import { createLog } from '../../src/log.ts';
import { type OwnArchive, openArchive } from '../support/own-archive.ts';

const DAY_MS = 86_400_000;
const RETENTION_DAYS = 365;

describe('The archive of audit entries', () => {
  let archive: OwnArchive;
  beforeEach(async () => {
    archive = await openArchive();
  });
  afterEach(() => archive.close());

  const entry = (summary: string) => ({
    at: Date.now(),
    who: { kind: 'user' as const, id: 'u', name: 'n' },
    action: 'POST /v1/webhooks',
    summary,
    ip: '::1',
    requestId: 'r',
  });
  const append = (summary: string) => archive.store.auditLog.append(entry(summary));
  /** As if it was written then. */
  const appendAt = (at: number, summary: string) =>
    archive.store.redis.xadd(
      archive.store.keys.auditLog,
      `${at}-0`,
      'entry',
      JSON.stringify({ ...entry(summary), at }),
    );
  const ship = () =>
    shipAuditEntries({ auditLog: archive.store.auditLog, archive, auditRetentionDays: RETENTION_DAYS });
  const hot = async () => (await archive.store.auditLog.list(100)).entries.map(({ summary }) => summary);
  const all = async () => (await archive.history.auditLog.list(100)).entries.map(({ summary }) => summary);

  it('has each entry once, even when two archivers ship it or one dies after the commit', async () => {
    for (let i = 0; i < 10; i++) await append(`entry ${i}`);
    await archive.audit.ship(await archive.store.auditLog.oldest('-', 3), RETENTION_DAYS);
    const added = await Promise.all([ship(), ship()]);
    expect(added[0] + added[1]).to.equal(7);
    expect(await ship()).to.equal(0);
    const [row] = await archive.database.query("SELECT rows FROM archived_days WHERE kind = 'audit_entries'");
    expect(row?.rows).to.equal(10);
    expect(await hot()).to.have.length(10);
    expect(await all()).to.have.length(10);
  });

  it('receives recent entries again, since a replica that took over may lag behind', async () => {
    const now = Date.now();
    await appendAt(now, 'newer');
    await ship();
    const { redis, keys } = archive.store;
    await redis.del(keys.auditLog);
    await appendAt(now - 5_000, 'behind');
    await appendAt(now + 1, 'after');
    expect(await ship()).to.equal(2);
  });

  it('lets Redis drop archived entries that are no longer hot, and lists both', async () => {
    const now = Date.now();
    await appendAt(now - 3 * DAY_MS, 'three days old');
    await appendAt(now - 2 * DAY_MS, 'two days old');
    await appendAt(now - 1_000, 'new');
    expect(await ship()).to.equal(3);
    expect(await hot()).to.deep.equal(['new']);
    expect(await all()).to.deep.equal(['new', 'two days old', 'three days old']);
    const walked: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const { entries, next } = await archive.history.auditLog.list(1, cursor);
      walked.push(...entries.map(({ summary }) => summary));
      if (next === undefined) break;
      cursor = next;
    }
    expect(walked).to.deep.equal(['new', 'two days old', 'three days old']);
  });

  it('is left out while Postgres is unavailable: a list has the hot entries, and later continues at the same place', async () => {
    await appendAt(Date.now() - 2 * DAY_MS, 'old');
    await append('new');
    await ship();
    const unreachable = createArchive(
      { archive: { ...archive.settings, url: 'postgres://127.0.0.1:1/none' } },
      async () => 7,
      createLog('silent', 'test'),
    );
    const { auditLog } = createHistory(archive.store, unreachable);
    expect(await auditLog.list(1)).not.to.have.property('stoppedEarly');
    const { entries, next, stoppedEarly } = await auditLog.list(2);
    expect([entries.map(({ summary }) => summary), stoppedEarly]).to.deep.equal([['new'], 'archive_unavailable']);
    const rest = await archive.history.auditLog.list(2, next);
    expect(rest.entries.map(({ summary }) => summary)).to.deep.equal(['old']);
    await unreachable?.database.close();
  });
});
