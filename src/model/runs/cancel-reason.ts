/** Why a run was cancelled. Stored with the run as a short text. Imports nothing, because the dashboard uses it in the browser. */

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
  /** Internal ID of the event that met a cancel trigger, of the bulk cancellation, of the replay, or of the run that took over from a singleton. */
  id?: string;
}

export function cancelReasonText({ cause, id }: CancelReason): string {
  return id === undefined ? cause : `${cause}:${id}`;
}

/** undefined: a later version stored it. */
export function readCancelReason(text: string): CancelReason | undefined {
  const [word = '', ...rest] = text.split(':');
  const cause = CANCEL_CAUSES.find((one) => one === word);
  if (!cause) return undefined;
  return rest.length === 0 ? { cause } : { cause, id: rest.join(':') };
}
