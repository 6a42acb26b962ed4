/** Presents stored events and runs to searches. */
import type { EventRecord } from '../events/event.ts';
import { errorText } from '../runs/error-text.ts';
import type { Run } from '../runs/run.ts';
import type { ReadVariable } from './evaluate.ts';
import { APP_VERSION, EVENT_PREFIX, FINGERPRINT } from './syntax.ts';

export type SearchedEvent = EventRecord & { source: string };

export function readsOfEvent(event: SearchedEvent): ReadVariable {
  return (name) => {
    switch (name) {
      case 'name':
        return event.name;
      case 'id':
        return event.id;
      case 'internal_id':
        return event.internal_id;
      case 'source':
        return event.source;
      case 'ts':
        return event.ts;
      case 'received_at':
        return event.received_at;
      case 'data':
        return event.data;
      case 'user':
        return event.user;
      case 'v':
        return event.v;
      default:
        return undefined;
    }
  };
}

/** @param output its value, if any
 *  @param event undefined if it is no longer stored, or the search does not read it */
export function readsOfRun(run: Run, output: unknown, event: SearchedEvent | undefined): ReadVariable {
  const ofEvent = event && readsOfEvent(event);
  return (name) => {
    switch (name) {
      case 'run_id':
        return run.id;
      case 'function_id':
        return run.functionId;
      case 'status':
        return run.status;
      case 'error':
        return run.error && errorText(run.error);
      case FINGERPRINT:
        return run.fingerprint;
      case APP_VERSION:
        return run.pin?.version;
      case 'queued_at':
        return run.queuedAt;
      case 'ended_at':
        return run.endedAt;
      case 'output':
        return output;
      default:
        return ofEvent?.(name.slice(EVENT_PREFIX.length));
    }
  };
}
