/** Registration limits. Every process keeps all registrations in memory, and signing keys are on many machines. Each limit is a setting;
 *  its error names the setting, the current number and the fix. */
import type { Quotas } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { isJsonObject } from '../values/json.ts';

/** The setting that defines each quota. */
const SETTING_OF: Record<keyof Quotas, string> = {
  apps: 'APPS_MAX',
  functionsOfApp: 'FUNCTIONS_PER_APP_MAX',
  functions: 'FUNCTIONS_MAX',
  configBytes: 'FUNCTION_CONFIG_MAX_BYTES',
  destinations: 'DESTINATIONS_MAX',
  branches: 'BRANCH_ENVIRONMENTS_MAX',
};

const number = new Intl.NumberFormat('en').format;

/** @param what the excess: `the environment "production" would have 101 apps`
 *  @param fix an alternative to raising the setting */
export function quotaExceeded(quota: keyof Quotas, allowed: number, actual: number, what: string, fix: string) {
  const setting = SETTING_OF[quota];
  return new ServiceError('quota_exceeded', {
    detail: `${what}, and ${setting} allows ${number(allowed)}. ${fix}, or raise ${setting}`,
    facts: { limit: setting, allowed, there: actual },
  });
}

/** Checks a registration before parsing it, so that oversized input costs nothing.
 *  @throws ServiceError quota_exceeded */
export function enforceQuotas(registration: unknown, quotas: Quotas): void {
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
  for (const fn of functions) if (isJsonObject(fn)) enforceFunctionQuotas(fn, quotas);
}

function enforceFunctionQuotas(fn: Record<string, unknown>, quotas: Quotas): void {
  const name = `The function ${JSON.stringify(String(fn.id).slice(0, 100))}`;
  const bytes = Buffer.byteLength(JSON.stringify(fn));
  if (bytes <= quotas.configBytes) return;
  const what = `The configuration of ${name.replace('The', 'the')} has ${number(bytes)} bytes`;
  throw quotaExceeded('configBytes', quotas.configBytes, bytes, what, 'Shorten it');
}
