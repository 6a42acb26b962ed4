/** Puts events and runs into the archive of the target, as old ones are: with data that Postgres must not stumble over. */
import { createArchive } from '../src/archive/archive.ts';
import { readConfig } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import { eventRow, runRow } from '../test/support/own-archive.ts';
import type { Service } from '../test/support/service.ts';
import type { Names } from './case.ts';

const HOUR_MS = 3_600_000;
const RETENTION_DAYS = 7;
const EVENTS = 1_000;
const EVERY_MS = 6 * 60_000;
const TEXTS = ['a', 'c_1', '', '\0', '\ud800', '😀', "' or 1=1 --", '\\', '%_', '"', 'x'.repeat(20_000)];
const NUMBERS = [0, -1, 11, 1e308, 2 ** 53 + 2, 0.1];

/** @returns names of an archived event and its run */
export async function fillArchive({ prefix, env }: Service): Promise<Names> {
  const config = readConfig({ ...env, KEY_PREFIX: prefix });
  const archive = createArchive(config, async () => RETENTION_DAYS, createLog('silent', 'fuzz'));
  if (!archive) throw new Error('The target has no archive');
  try {
    const now = Date.now();
    const events = Array.from({ length: EVENTS }, (_, n) => {
      const text = TEXTS[n % TEXTS.length];
      const total = NUMBERS[n % NUMBERS.length];
      const data = {
        total,
        name: text,
        customer: { id: text },
        a: [text, { a: [total, null, true] }],
        __proto__: null,
      };
      const dedupId = n % 7 === 0 ? `order-${n}` : undefined;
      return eventRow({ at: now - 2 * HOUR_MS - n * EVERY_MS, name: n % 3 ? 'order/paid' : 'fuzz/old', data, dedupId });
    });
    const runs = events.map(({ id, at }, n) => {
      const failed = { status: 'Failed', error: `Error: ${TEXTS[n % TEXTS.length]}` } as const;
      return runRow({ at, eventId: id, functionId: 'fuzz-any', ...(n % 4 === 0 && failed) });
    });
    await archive.shipments.ship({ events, runs });
    return { 'archived-event': events[0]?.id ?? '', 'archived-run': runs[0]?.id ?? '' };
  } finally {
    await archive.database.close();
  }
}
