/** How much may be registered. A signing key is on many machines, and what is registered is kept in memory by every process: each number here
 *  is a setting, and a refusal names it, what there is, and what to do. */
import type { Quotas } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { isJsonObject } from '../values/json.ts';

/** The setting behind each of them. */
const SETTING_OF: Record<keyof Quotas, string> = {
  apps: 'APPS_MAX',
  functionsOfApp: 'FUNCTIONS_PER_APP_MAX',
  functions: 'FUNCTIONS_MAX',
  triggers: 'TRIGGERS_PER_FUNCTION_MAX',
  configBytes: 'FUNCTION_CONFIG_MAX_BYTES',
  branches: 'BRANCH_ENVIRONMENTS_MAX',
};

const number = new Intl.NumberFormat('en').format;

/** @param what has so many of what: `the environment "production" would have 101 apps`
 *  @param todo beside raising the setting */
export function quotaExceeded(quota: keyof Quotas, allowed: number, there: number, what: string, todo: string) {
  const setting = SETTING_OF[quota];
  return new ServiceError('quota_exceeded', {
    detail: `${what}, and ${setting} allows ${number(allowed)}. ${todo}, or raise ${setting}`,
    facts: { limit: setting, allowed, there },
  });
}

/** Looks at a registration before it is parsed any further: what is too much should cost nothing.
 *  @throws ServiceError quota_exceeded */
export function refuseTooMuch(registration: unknown, quotas: Quotas): void {
  if (!isJsonObject(registration) || !Array.isArray(registration.functions)) return;
  const { functions } = registration;
  if (functions.length > quotas.functionsOfApp) {
    throw quotaExceeded(
      'functionsOfApp',
      quotas.functionsOfApp,
      functions.length,
      `The app registers ${number(functions.length)} functions`,
      'Divide it into several apps',
    );
  }
  for (const fn of functions) if (isJsonObject(fn)) refuseLarge(fn, quotas);
}

function refuseLarge(fn: Record<string, unknown>, quotas: Quotas): void {
  const name = `The function ${JSON.stringify(String(fn.id).slice(0, 100))}`;
  for (const list of ['triggers', 'cancel'] as const) {
    const count = Array.isArray(fn[list]) ? fn[list].length : 0;
    if (count <= quotas.triggers) continue;
    const what = `${name} has ${number(count)} ${list === 'cancel' ? 'events that cancel it' : list}`;
    throw quotaExceeded('triggers', quotas.triggers, count, what, 'Use a wildcard, or several functions');
  }
  const bytes = Buffer.byteLength(JSON.stringify(fn));
  if (bytes <= quotas.configBytes) return;
  const what = `The configuration of ${name.replace('The', 'the')} has ${number(bytes)} bytes`;
  throw quotaExceeded('configBytes', quotas.configBytes, bytes, what, 'Shorten it');
}
