/** Sends a signal (`POST {service}/v1/signals`). */
import { postJson, refused } from './post-json.ts';
import type { Settings } from './settings.ts';

/** Resolves to the ID of the run that waited for the signal, or to null if no step did.
 *  @throws SendError, ConfigError */
export async function sendSignal(signal: string, data: unknown, settings: Settings): Promise<string | null> {
  const answer = await postJson('/v1/signals', { signal, data }, settings);
  const { data: told, code } = answer.fields;
  const runId = (told as { run_id?: unknown } | undefined)?.run_id;
  if (answer.ok && typeof runId === 'string') return runId;
  if (answer.status === 404 && code === 'not_found') return null;
  throw refused(`The signal ${JSON.stringify(signal)} was not sent`, answer);
}
