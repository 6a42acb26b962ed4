/** Asks a candidate for its registration, and registers nothing (docs/change-code-safely.md#what-if). */
import type { Dispatcher } from 'undici';
import { ServiceError } from '../../errors.ts';
import { requestSync } from '../../functions/sync-request.ts';
import type { AskedRegistrations, GivenRegistration } from '../../store/apps/asked-registrations.ts';
import { BODY_MAX_BYTES } from './register.ts';
import type { ParsedRegistration, Registrar } from './registrar.ts';

export interface AskedCandidate {
  id: string;
  env: string;
  app: string;
  url: string;
  agent: Dispatcher;
  /** undefined in dev mode. */
  signingKey: string | undefined;
}

export interface AskDeps {
  askedRegistrations: AskedRegistrations;
  registrar: Pick<Registrar, 'parse'>;
}

/** @throws ServiceError app_unreachable, address_blocked, registration_invalid, quota_exceeded */
export async function askRegistration(candidate: AskedCandidate, deps: AskDeps): Promise<ParsedRegistration> {
  const { text, dialect } = await ask(candidate, deps);
  const parsed = await deps.registrar.parse(text, dialect);
  const { appName } = parsed.registration;
  if (appName === candidate.app) return parsed;
  throw new ServiceError('registration_invalid', { detail: `the candidate registers as "${appName}"` });
}

async function ask(
  { id, env, app, url, agent, signingKey }: AskedCandidate,
  deps: AskDeps,
): Promise<GivenRegistration> {
  const { askedRegistrations } = deps;
  const end = await askedRegistrations.start(env, { id, app, origin: new URL(url).origin }, Date.now());
  const request = { url, agent, signingKey, registrationMaxBytes: BODY_MAX_BYTES, whatIf: true, hint: () => '' };
  const answer = await requestSync(request).catch(async (error) => {
    // After a timeout it may still register.
    if ((error.cause as Error | undefined)?.name !== 'TimeoutError') await end();
    throw error;
  });
  await end();
  if ('registration' in answer) return answer.registration;
  const given = await askedRegistrations.take(id);
  if (given) return given;
  throw new ServiceError('app_unreachable', { detail: `PUT ${url}: the candidate has not registered` });
}
