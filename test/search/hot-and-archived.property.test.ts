import { expect } from 'chai';
import fc from 'fast-check';
import type { EventRow } from '../../src/archive/rows.ts';
import { EventSearch } from '../../src/history/event-search.ts';
import type { SearchNode } from '../../src/model/search/syntax.ts';
import { eventRow, type OwnArchive, openArchive } from '../support/own-archive.ts';
import { data, dedupIds, names, searches } from './arbitraries.ts';
import { isFound } from './naive.ts';

const HOUR_MS = 3_600_000;
const SPAN_MS = 50 * HOUR_MS;
const EVENTS = 40;
const SEARCHES = 60;

describe('A search', () => {
  let archive: OwnArchive;
  before(async () => {
    archive = await openArchive();
  });
  after(() => archive.close());

  it('finds the same events in Redis and in the archive as its definition', async () => {
    const now = Date.now();
    const times = { from: now - SPAN_MS, to: now - 30 * HOUR_MS };
    const event = fc.record({
      at: fc.integer({ min: times.from, max: times.to }),
      name: names,
      dedupId: dedupIds,
      source: fc.constantFrom('api' as const, 'webhook:w1' as const, 'event:01' as const),
      data,
    });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { minLength: EVENTS, maxLength: EVENTS }),
        fc.array(searches(times), { minLength: SEARCHES, maxLength: SEARCHES }),
        async (events, wanted) => {
          const env = `e${round++}`;
          const rows = events.map((event) => eventRow({ ...event, env }));
          await archive.shipments.ship({ events: rows, runs: [] });
          await storeHot(
            archive,
            rows.map((row) => ({ ...row, env: `hot-${env}` })),
          );
          const { eventLists, eventCounts } = archive.store;
          const archived = new EventSearch({ eventLists, eventCounts, archive });
          const hot = new EventSearch({ eventLists, eventCounts, archive: undefined });
          for (const node of wanted) {
            const expected = rows
              .filter((row) => isFound(node, variablesOf(row)))
              .map(({ id }) => id)
              .sort();
            const shown = JSON.stringify(node);
            expect(await all(hot, `hot-${env}`, node), `hot: ${shown}`).to.deep.equal(expected);
            expect(await all(archived, env, node), `archived: ${shown}`).to.deep.equal(expected);
          }
        },
      ),
      { numRuns: Number(process.env.SEARCH_ROUNDS ?? 2), endOnFailure: true, reporter: reportBriefly as never },
    );
  });

  async function all(search: EventSearch, env: string, node: SearchNode): Promise<string[]> {
    const found: string[] = [];
    let cursor: { at: number; id: string } | undefined;
    do {
      const page = await search.search({ env, node, timeRange: { cursor }, limit: 7, timeoutMs: 20_000 }, Date.now());
      expect(page.stoppedEarly).to.equal(undefined);
      found.push(...page.found.map(({ internal_id }) => internal_id));
      cursor = page.next;
    } while (cursor);
    expect(new Set(found).size).to.equal(found.length);
    return found.sort();
  }
});

/** The counterexample has thousands of values. */
function reportBriefly({ failed, errorInstance, seed, counterexamplePath }: fc.RunDetails<unknown>): void {
  if (failed) throw new Error(`seed ${seed}, path ${counterexamplePath}: ${(errorInstance as Error).message}`);
}

function variablesOf({ name, dedupId, id, source, at, payload }: EventRow): Record<string, unknown> {
  const sent = JSON.parse(payload);
  return { name, id: dedupId, internal_id: id, source, received_at: at, ts: sent.ts, data: sent.data };
}

async function storeHot({ store }: OwnArchive, rows: readonly EventRow[]): Promise<void> {
  const envelopes = rows.map(({ env, at, id, name, source, requestId, index, payload, dedupId }) => ({
    env,
    internalId: id,
    name,
    ts: at,
    receivedAt: at,
    source: source as 'api',
    requestId,
    index,
    payload,
    ...(dedupId !== undefined && { id: dedupId }),
  }));
  await store.events.markIngested(await store.events.storeNew(envelopes), Date.now());
}
