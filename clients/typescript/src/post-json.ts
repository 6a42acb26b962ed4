/** Authenticated requests for signals and realtime messages. They are tried once: their repetition could do them twice. */
import { SendError, ServeError } from './errors.ts';
import { parseObject } from './response.ts';
import { askService } from './service.ts';
import type { Settings } from './settings.ts';

export interface JsonAnswer {
  ok: boolean;
  status: number;
  fields: Record<string, unknown>;
}

/** @throws SendError if the service could not be reached; ConfigError; TypeError if JSON cannot represent the body */
export async function postJson(path: string, body: unknown, settings: Settings): Promise<JsonAnswer> {
  const text = JSON.stringify(body) ?? 'null';
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: text };
  try {
    const answer = await askService(path, init, settings);
    return { ok: answer.ok, status: answer.status, fields: parseObject(answer.text) };
  } catch (error) {
    if (error instanceof ServeError) throw new SendError(error.message, { cause: error.cause });
    throw error;
  }
}

/** @param what start of the message */
export function refused(what: string, { status, fields: { error, code } }: JsonAnswer): SendError {
  const reason = typeof error === 'string' ? error : `the service answered ${status}`;
  return new SendError(`${what}: ${reason}`, { status, code: typeof code === 'string' ? code : undefined });
}
