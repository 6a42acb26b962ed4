/** A short text for the user of an event. Senders may put anything into `user`. */
import { parseStored } from '../values/json.ts';

const USUAL_KEYS = ['id', 'external_id', 'user_id', 'email', 'name', 'username'];
const LABEL_CHARS = 80;

/** @param payload the JSON text of an event
 *  @returns the user's ID if the event has one, otherwise its first text or number; undefined: it names nobody */
export function userLabelOf(payload: string): string | undefined {
  try {
    const { user } = parseStored(payload) as { user?: unknown };
    if (typeof user !== 'object' || user === null) return undefined;
    const fields = user as Record<string, unknown>;
    const values = [...USUAL_KEYS.map((key) => fields[key]), ...Object.values(fields)];
    const label = values.find((value) => typeof value === 'number' || (typeof value === 'string' && value !== ''));
    return label === undefined ? undefined : String(label).slice(0, LABEL_CHARS);
  } catch {
    return undefined;
  }
}
