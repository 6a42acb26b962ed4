/** Registrations of apps: functions with their triggers (docs/protocol.md#registration). */
import { z } from 'zod';
import { isJsonObject } from '../values/json.ts';
import { CONNECT_URL } from './connection.ts';

export const httpUrl = z.url({ protocol: /^https?$/, error: 'an http or https URL' }).max(2_048);

/** Where the service calls a function or an app; apps that connect have no URL. */
export const appUrl = z.union([httpUrl, z.literal(CONNECT_URL)], { error: 'an http or https URL' });

/** Names a build of an app. It changes nothing, so that no other value of it spoils a registration. */
const buildName = z.string().max(256).nullish().catch(undefined);

/** A registration without its functions. */
export const registrationSchema = z.preprocess(
  normalizeAppName,
  z
    .object({
      url: appUrl,
      appName: z.string().min(1).max(128),
      sdk: z.string().max(256).optional(),
      framework: z.string().max(256).nullish(),
      deployId: buildName.meta({ description: 'Which build of the app it is' }),
      appVersion: buildName.meta({ description: 'Likewise, where there is no deployId' }),
      functions: z.array(z.unknown()).max(10_000).meta({ description: 'Checked one by one (registered-functions.ts)' }),
    })
    .meta({ id: 'Registration' }),
);

/** The official Python SDK spells the field `appname`. */
function normalizeAppName(registration: unknown): unknown {
  if (!isJsonObject(registration) || !('appname' in registration)) return registration;
  const { appname, ...rest } = registration;
  return { appName: appname, ...rest };
}

/** The app's name in an unvalidated registration. */
export function appNameIn(registration: unknown): unknown {
  const normalized = normalizeAppName(registration);
  return isJsonObject(normalized) ? normalized.appName : undefined;
}

export type Registration = z.infer<typeof registrationSchema>;

/** Header prefix that an app uses (docs/protocol.md#dialects). */
export type Dialect = 'service' | 'inngest';

/** How the service calls an endpoint again: what it signs, the body of the request or nothing. */
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
  expression?: string;
  /** With its time zone. */
  cron?: string;
  /** Time string: a run starts up to so much later than the tick of `cron`. */
  jitter?: string;
  /** Whether missed ticks of `cron` all run, or only the last one, the default. */
  catchUp?: 'last' | 'all';
}

/** A stored function: the fields that runs need, and its registered configuration. */
export interface AppFunction {
  id: string;
  name: string;
  app: string;
  url: string;
  dialect: Dialect;
  retries: number;
  triggers: Trigger[];
  cancel: CancelTrigger[];
  /** Missing from its app's last registration: no longer triggered; its active runs still finish. */
  archived: boolean;
  /** Unix milliseconds; undefined: not paused. */
  pausedAt?: number;
  /** While it is paused, its queued runs do not start. */
  held?: true;
  /** While it is paused, runs that were queued before this time do not start: they are being cancelled. Unix milliseconds. */
  cancelQueuedBefore?: number;
  /** What does not work as the app configured it; absent: nothing. */
  problems?: string[];
  /** An HTTP endpoint with steps, which runs on requests of its own clients; undefined: a function that was registered. */
  endpoint?: EndpointProtocol;
  config: Record<string, unknown>;
}

/** A function that was not registered. An earlier registration of it stays in effect. */
export interface RefusedFunction {
  /** null: it has none. */
  id: string | null;
  problem: string;
}
