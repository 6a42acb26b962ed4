/** Registrations of apps: functions with their triggers (docs/protocol.md#registration). */
import { z } from 'zod';
import type { OnExhausted } from '../runs/pause.ts';
import { isJsonObject } from '../values/json.ts';
import { CONNECT_URL } from './connection.ts';
import { DESTINATION_PREFIX, type Destination, isDestinationId } from './destination.ts';

export const httpUrl = z.url({ protocol: /^https?$/, error: 'an http or https URL' }).max(2_048);

/** The URL at which the service calls a function or an app; CONNECT_URL for apps that connect. */
export const appUrl = z.union([httpUrl, z.literal(CONNECT_URL)], { error: 'an http or https URL' });

/** Name of the app's build. Informational, so an invalid value is dropped instead of failing the registration. */
const buildName = z.string().max(256).nullish().catch(undefined);

/** A registration without its functions. */
export const registrationSchema = z.preprocess(
  normalizeAppName,
  z
    .object({
      url: appUrl,
      appName: z
        .string()
        .min(1)
        .max(128)
        .refine((name) => !isDestinationId(name), `a name that does not begin with "${DESTINATION_PREFIX}"`),
      sdk: z.string().max(256).optional(),
      framework: z.string().max(256).nullish(),
      deployId: buildName.describe('Build of the app'),
      appVersion: buildName.describe('Build of the app, if there is no deployId'),
      functions: z.array(z.unknown()).max(10_000).describe('Checked one by one (registered-functions.ts)'),
    })
    .meta({ id: 'Registration' }),
);

/** The official Python SDK spells the field `appname`. */
function normalizeAppName(registration: unknown): unknown {
  if (!isJsonObject(registration) || !('appname' in registration)) return registration;
  const { appname, ...rest } = registration;
  return { appName: appname, ...rest };
}

export function appNameIn(registration: unknown): unknown {
  const normalized = normalizeAppName(registration);
  return isJsonObject(normalized) ? normalized.appName : undefined;
}

export type Registration = z.infer<typeof registrationSchema>;

/** Header prefix that an app uses (docs/protocol.md#dialects). */
export type Dialect = 'service' | 'inngest';

/** How the service calls an endpoint again: `signed-body` sends and signs a body; `signed-run-id` sends none and signs the run ID. */
export type EndpointProtocol = 'signed-body' | 'signed-run-id';

/** An event that cancels the function's runs. */
export interface CancelTrigger {
  event: string;
  /** CEL over `event` (the event that triggered the run) and `async` (the received event). */
  expression?: string;
  /** Time string: the trigger expires this long after the start of the run. */
  timeout?: string;
}

export interface Trigger {
  event?: string;
  /** ID of a webhook: all events of its requests, whatever their names. */
  webhook?: string;
  expression?: string;
  /** May begin with a time zone: `TZ=Europe/Paris 0 9 * * *`. */
  cron?: string;
  /** Time string: the maximum random delay after a tick of `cron`. */
  jitter?: string;
  /** Missed ticks of `cron` that run later: all, or only the last one (default). */
  catchUp?: 'last' | 'all';
}

/** A version on which a share of the new runs of pinned functions starts, while another one is active. */
export interface Ramp {
  version: string;
  /** 1 to 99. */
  percent: number;
}

/** Settings of a function that people make, because an official SDK cannot. They override the registration. */
export interface FunctionSettings {
  onExhausted?: OnExhausted;
}

/** Whether a run of the function fails or pauses when its call has no attempt left. */
export function onExhaustedOf(fn: Pick<AppFunction, 'settings' | 'onExhausted'> | undefined): OnExhausted {
  return fn?.settings?.onExhausted ?? fn?.onExhausted ?? 'fail';
}

/** A stored function: the fields that runs need, and its registered configuration. */
export interface AppFunction {
  id: string;
  name: string;
  app: string;
  url: string;
  dialect: Dialect;
  retries: number;
  /** The app's choice for runs whose call has no attempt left; absent: none. `onExhaustedOf` combines it with the settings. */
  onExhausted?: OnExhausted;
  triggers: Trigger[];
  cancel: CancelTrigger[];
  /** The version of its app on which its new runs end; absent unless they are pinned (versions.ts). */
  version?: string;
  /** The share of its new runs that ends on another version; absent: none. */
  ramp?: Ramp;
  /** True when the app's last registration lacks the function: it is no longer triggered, but its active runs finish. */
  archived: boolean;
  /** Unix milliseconds; absent unless it is paused. */
  pausedAt?: number;
  /** While the function is paused, its queued runs do not start. */
  held?: true;
  /** While the function is paused, runs queued before this time (Unix milliseconds) are being cancelled and do not start. */
  cancelQueuedBefore?: number;
  /** Set by people; absent: none is. */
  settings?: FunctionSettings;
  /** Parts of the app's configuration that have no effect, one sentence each; absent if there are none. */
  problems?: string[];
  /** Set for an HTTP endpoint with steps, which its own clients start; absent for a registered function. */
  endpoint?: EndpointProtocol;
  /** Set for a destination: the service owns it, and its calls are single POSTs to its URL. */
  destination?: Destination;
  config: Record<string, unknown>;
}

/** A function that the registrar refused. Its previous registration stays in effect. */
export interface RefusedFunction {
  /** null if the app sent none. */
  id: string | null;
  problem: string;
}
