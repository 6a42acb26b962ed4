/** The triggering events of runs, as lists of runs show them. */
import type { History } from '../../history/history.ts';
import { gistOfHead, headOf } from '../../model/events/gist.ts';
import type { Run } from '../../model/runs/run.ts';

export interface EventBrief {
  event_name: string;
  event_gist: string;
}

/** Events that are read at once; each may have half a megabyte. */
const PORTION = 10;
/** Characters of events that are read for a page. */
const MAX_CHARACTERS = 4_194_304;

/** @returns by event ID; without events that are not stored any more, and without those after 4 million characters of payloads or while the archive, which
 *  has them, is away: a list of runs is shown all the same */
export async function eventsOfRuns(
  events: Pick<History['events'], 'envelopes'>,
  env: string,
  runs: readonly Run[],
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
      briefs.set(id, { event_name: name, event_gist: gistOfHead(headOf(payload)) });
    }
    read += some.length;
    portion = Math.max(1, Math.floor((MAX_CHARACTERS - characters) / (characters / read + 1)));
  }
  return briefs;
}
