/** The triggering events of runs, as lists of runs show them. */
import type { History } from '../../history/history.ts';
import { gistOfHead, headOf } from '../../model/events/gist.ts';
import { userLabelOf } from '../../model/events/user-label.ts';
import type { Run } from '../../model/runs/run.ts';

export interface EventBrief {
  event_name: string;
  event_gist: string;
  event_user?: string;
}

/** Number of events read at once; each may have half a megabyte. */
const PORTION = 10;
/** Maximum characters of events that are read for a page. */
const MAX_CHARACTERS = 4_194_304;

/** @param hasUser whether to say whom the events concern, for which whole payloads are parsed
 *  @returns by event ID. Events that are no longer stored, events beyond 4 million characters of payloads, and archived events while the archive
 *  is unavailable are missing; the runs are listed anyway */
export async function eventsOfRuns(
  events: Pick<History['events'], 'envelopes'>,
  env: string,
  runs: readonly Run[],
  hasUser = false,
): Promise<Map<string, EventBrief>> {
  const ids = [...new Set(runs.map(({ eventId }) => eventId))];
  const briefs = new Map<string, EventBrief>();
  let characters = 0;
  let portion = PORTION;
  for (let read = 0; read < ids.length && characters < MAX_CHARACTERS; ) {
    const some = ids.slice(read, read + portion);
    const found = await events.envelopes(env, some).catch(() => undefined);
    if (!found) break;
    for (const [id, { name, payload }] of found) {
      characters += payload.length;
      const user = hasUser ? userLabelOf(payload) : undefined;
      briefs.set(id, {
        event_name: name,
        event_gist: gistOfHead(headOf(payload)),
        ...(user !== undefined && { event_user: user }),
      });
    }
    read += some.length;
    portion = Math.max(1, Math.floor((MAX_CHARACTERS - characters) / (characters / read + 1)));
  }
  return briefs;
}
