/** What an app configures and the service does not act on. The only list of it: registrations, the API, the app check and the dashboard tell
 *  from it. It is read from the stored configuration, so a later version stops telling what it supports without a new registration. */
import type { AppFunction } from './app.ts';

type Configured = Pick<AppFunction, 'config' | 'problems'>;

/** By the field of the registered function: what happens instead. */
const EFFECTS_WITHOUT: Readonly<Record<string, string>> = {
  concurrency: 'every event starts a run at once',
  throttle: 'every event starts a run at once',
  rateLimit: 'every event starts a run',
  debounce: 'every event starts a run at once',
  batchEvents: 'every event starts a run of its own',
  priority: 'runs start in the order of their events',
  singleton: 'an event starts a run also while another run is active',
  idempotency: 'only events with the same id count once',
  timeouts: 'no run ends because it starts late or takes long',
};

/** One sentence for each option that is set. */
export function unsupportedOptions({ config }: Configured): string[] {
  return Object.entries(EFFECTS_WITHOUT).flatMap(([option, effect]) =>
    isSet(config[option]) ? [`${option} is not supported: ${effect}`] : [],
  );
}

/** What does not work as the app configured it. */
export function functionProblems(fn: Configured): string[] {
  return [...(fn.problems ?? []), ...unsupportedOptions(fn)];
}

/** Some SDKs send an option without a value where the app has not set it. */
function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(isFilled);
  return isFilled(value);
}

function isFilled(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== undefined && value !== null && value !== '' && value !== 0 && value !== false;
}
