/** Input of the code snippets: an event, and where to send it. */
import { PRODUCTION } from '../../../api/client.ts';

/** An event to send (src/model/events/event.ts). */
export interface EventToSend {
  name: string;
  data: unknown;
  id?: string;
  /** Unix milliseconds. */
  ts?: number;
  user?: unknown;
  v?: string;
}

export interface SendTarget {
  /** `https://events.example` */
  origin: string;
  /** A branch; undefined: the key's own environment. */
  env: string | undefined;
  /** Dev mode accepts any key. */
  dev: boolean;
}

export function sendTarget(env: string, dev: boolean): SendTarget {
  return { origin: window.location.origin, env: env === PRODUCTION ? undefined : env, dev };
}
