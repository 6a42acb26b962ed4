/** Asks a candidate for its registration, and registers nothing (docs/change-code-safely.md#what-if). */
import type { Dispatcher } from 'undici';
import { ServiceError } from '../../errors.ts';
import { requestSync } from '../../functions/sync-request.ts';
import type { Dialect } from '../../model/apps/app.ts';
import type { AskedRegistrations, GivenRegistration } from '../../store/apps/asked-registrations.ts';
import { BODY_MAX_BYTES } from './register.ts';
import type { ParsedRegistration, Registrar } from './registrar.ts';

export interface AskedCandidate {
  id: string;
  env: string;
  app: string;
  url: string;
  dialect: Dialect;
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
  { id, env, url, dialect, agent, signingKey }: AskedCandidate,
  { askedRegistrations }: AskDeps,
): Promise<GivenRegistration> {
  await askedRegistrations.start(env, id);
  const whatIf = { id, dialect };
  const request = { url, agent, signingKey, registrationMaxBytes: BODY_MAX_BYTES, whatIf, hint: () => '' };
  const response = await requestSync(request);
  const given = await askedRegistrations.take(env, id);
  if ('registration' in response) return response.registration;
  if (given) return given;
  throw new ServiceError('app_unreachable', { detail: `PUT ${url}: the candidate has not registered` });
}
