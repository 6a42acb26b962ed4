/** What code that sends an event is made of: the event, and where it goes. */
import { PRODUCTION } from '../../../api/client.ts';

/** An event as it is sent (src/model/events/event.ts). */
export interface EventToSend {
  name: string;
  data: unknown;
  id?: string;
  /** Unix milliseconds. */
  ts?: number;
  user?: unknown;
  v?: string;
}

export interface Place {
  /** Such as `https://events.example`. */
  origin: string;
  /** Of a branch; undefined: the key's own environment. */
  env: string | undefined;
  /** In dev mode any key will do. */
  dev: boolean;
}

export function placeOf(env: string, dev: boolean): Place {
  return { origin: window.location.origin, env: env === PRODUCTION ? undefined : env, dev };
}
