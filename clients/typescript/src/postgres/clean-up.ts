/** A relay deletes rows that were kept for long enough, and results of steps whose runs the service no longer has. */
import type { Queries } from './database.ts';
import type { Sender } from './sender.ts';
import { OUTBOX_FORGET, STEPS_DELETE, STEPS_OF_EARLIER_RUNS } from './statements.ts';

const AT_ONCE = 1_000;

/** Deletes the results of steps that are older than these days and whose run the service no longer has.
 *  @throws if the service cannot tell, and then deletes no further ones */
export async function forgetSteps(db: Queries, sender: Sender, days: number): Promise<void> {
  for (let after = '', full = true; full; ) {
    const rows = await db.query(STEPS_OF_EARLIER_RUNS, [days, AT_ONCE, after]);
    const runIds = rows.map((row) => String(row.run_id));
    if (runIds.length === 0) return;
    const found = await sender.findRuns(runIds);
    const gone = runIds.filter((id) => !found.has(id));
    if (gone.length > 0) await db.query(STEPS_DELETE, [gone, days]);
    after = runIds.at(-1) as string;
    full = runIds.length === AT_ONCE;
  }
}

/** Deletes rows that were acknowledged longer ago than these days. */
export async function forgetRows(db: Queries, days: number): Promise<void> {
  await db.query(OUTBOX_FORGET, [days, AT_ONCE]);
}
