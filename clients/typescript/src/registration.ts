/** Registers the app's URL and functions with the service (`POST {service}/fn/register`). */
import { ServeError } from './errors.ts';
import { flowOnTheWire } from './flow.ts';
import type { TidegateFunction, Trigger } from './function-types.ts';
import { HEADERS, SDK } from './headers.ts';
import { hintIfRefused } from './hints.ts';
import { parseObject } from './response.ts';
import { askService } from './service.ts';
import type { Settings } from './settings.ts';

export interface App {
  id: string;
  /** URL at which the service calls it. */
  url: string;
  framework: string;
  functions: readonly TidegateFunction[];
  /** ID of the what-if that asks for the registration. */
  whatIf?: string | undefined;
}

/** The function's ID in the service, unique across apps. */
export function compositeId({ appId, id }: { appId: string; id: string }): string {
  return `${appId}-${id}`;
}

/** Returns the response of the service.
 *  @throws ServeError if it rejected the registration or could not be reached; ConfigError */
export async function register(app: App, settings: Settings): Promise<Record<string, unknown>> {
  const { baseUrl } = settings;
  const init = { method: 'POST', headers: headersOf(app, settings), body: JSON.stringify(payloadOf(app, settings)) };
  const { ok, status, text } = await askService('/fn/register', init, settings);
  const answer = parseObject(text);
  if (ok && answer.ok !== false) return answer;
  const reason = typeof answer.error === 'string' ? answer.error : `it answered ${status}`;
  throw new ServeError(
    500,
    `The service at ${baseUrl} refused to register the app: ${reason}${hintIfRefused(status, settings.mode)}`,
  );
}

function headersOf({ framework, whatIf }: App, settings: Settings): Record<string, string> {
  return {
    'content-type': 'application/json',
    [HEADERS.framework]: framework,
    ...(whatIf && { [HEADERS.whatIf]: whatIf }),
    [HEADERS.expectedServerKind]: settings.mode,
  };
}

function payloadOf(app: App, { appVersion }: Settings) {
  return {
    url: app.url,
    deployType: 'ping',
    appName: app.id,
    sdk: SDK,
    v: '0.1',
    framework: app.framework,
    ...(appVersion && { appVersion }),
    functions: app.functions.map((fn) => functionOnTheWire(fn, httpRuntime(fn, app))),
  };
}

function httpRuntime(fn: TidegateFunction, app: App) {
  return { type: 'http', url: `${app.url}?${new URLSearchParams({ fnId: compositeId(fn), stepId: 'step' })}` };
}

/** @param runtime how the service calls it */
export function functionOnTheWire(fn: TidegateFunction, runtime: { type: string; url?: string }) {
  const step = { id: 'step', name: 'step', runtime, retries: { attempts: fn.retries } };
  return {
    id: compositeId(fn),
    name: fn.name,
    ...(fn.description && { description: fn.description }),
    ...(fn.group && { group: fn.group }),
    ...(fn.versioning && { versioning: fn.versioning }),
    ...(fn.onExhausted && { onExhausted: fn.onExhausted }),
    triggers: fn.triggers.map(triggerOnTheWire),
    steps: { step },
    ...flowOnTheWire(fn.flow),
  };
}

function triggerOnTheWire(trigger: Trigger) {
  if ('cron' in trigger) {
    const { cron, jitter, catchUp } = trigger;
    return { cron, ...(jitter && { jitter }), ...(catchUp && { catchUp }) };
  }
  return { event: trigger.event, ...(trigger.if && { expression: trigger.if }) };
}
