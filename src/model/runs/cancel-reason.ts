/** Why a run was cancelled. Stored with the run as a short text. Imports only types, because the dashboard uses it in the browser. */
import type { PrincipalKind } from '../auth/access.ts';

export const CANCEL_CAUSES = [
  'request',
  'event',
  'bulk_cancellation',
  'start_timeout',
  'finish_timeout',
  'singleton',
  'pause',
  'replay',
] as const;
export type CancelCause = (typeof CANCEL_CAUSES)[number];

export interface CancelReason {
  cause: CancelCause;
  /** ID of the cause: the internal ID of the event that met a cancel trigger, a bulk cancellation, a replay, or the run that took over a
   *  singleton. */
  id?: string;
  /** The user who made the request. */
  by?: CancelledBy;
}

/** A principal, as in the audit log. */
export interface CancelledBy {
  kind: PrincipalKind;
  id: string;
  name: string;
}

/** Separates the reason from the principal, which is JSON. */
const BY = '|';

export function cancelReasonText({ cause, id, by }: CancelReason): string {
  const text = id === undefined ? cause : `${cause}:${id}`;
  return by ? `${text}${BY}${JSON.stringify({ kind: by.kind, id: by.id, name: by.name })}` : text;
}

/** undefined if a later version stored it. */
export function readCancelReason(text: string): CancelReason | undefined {
  const bar = text.indexOf(BY);
  const [word = '', ...rest] = (bar === -1 ? text : text.slice(0, bar)).split(':');
  const cause = CANCEL_CAUSES.find((known) => known === word);
  if (!cause) return undefined;
  return {
    cause,
    ...(rest.length > 0 && { id: rest.join(':') }),
    ...(bar !== -1 && { by: JSON.parse(text.slice(bar + 1)) as CancelledBy }),
  };
}
