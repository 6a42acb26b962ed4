/** Sends a signal (`POST {service}/v1/signals`). */
import { SendError, ServeError } from './errors.ts';
import { parseObject } from './response.ts';
import { askService } from './service.ts';
import type { Settings } from './settings.ts';

/** Resolves to the ID of the run that waited for the signal, or to null if no step did. Tries once: it is not known whether a lost
 *  request ended the wait.
 *  @throws SendError, ConfigError */
export async function sendSignal(signal: string, data: unknown, settings: Settings): Promise<string | null> {
  const answer = await post('/v1/signals', { signal, data }, settings);
  const { data: told, code, error } = parseObject(answer.text);
  const runId = (told as { run_id?: unknown } | undefined)?.run_id;
  if (answer.ok && typeof runId === 'string') return runId;
  if (answer.status === 404 && code === 'not_found') return null;
  const message = typeof error === 'string' ? error : `The service answered ${answer.status}`;
  throw new SendError(`The signal ${JSON.stringify(signal)} was not sent: ${message}`, {
    status: answer.status,
    code: typeof code === 'string' ? code : undefined,
  });
}

async function post(path: string, body: unknown, settings: Settings) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  try {
    return await askService(path, init, settings);
  } catch (error) {
    if (error instanceof ServeError) throw new SendError(error.message, { cause: error.cause });
    throw error;
  }
}
