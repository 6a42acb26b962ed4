/** Fields of bulk operations of any kind that pages show. */
import { callApi } from '../../api/client.ts';
import { useAction } from '../use-action.ts';

export type OperationStatus = 'running' | 'paused' | 'cancelling' | 'cancelled' | 'done';
export type OperationVerb = 'pause' | 'resume' | 'cancel';

/** Interval between two reads of an operation that is changing. */
export const POLL_MS = 1_000;

/** Whether it can still do something new. */
export function isOpen(status: OperationStatus): boolean {
  return status === 'running' || status === 'paused';
}

interface Change<Result> {
  /** Path in the API. */
  path: string;
  /** undefined: it is the whole installation's. */
  env?: string;
  /** First part of the query keys to refetch. */
  invalidates: string;
  onSuccess?(changed: Result): void;
}

/** Pauses, resumes or cancels it. */
export function useOperationChange<Result>({ path, env, ...action }: Change<Result>) {
  return useAction({
    run: async ({ verb, body }: { verb: OperationVerb; body?: object }) =>
      (await callApi<Result>(`${path}/${verb}`, { method: 'POST', ...(env && { env }), ...(body && { body }) })).data,
    ...action,
  });
}

export function totalOf(counts: Record<string, number | undefined>): number {
  return Object.values(counts).reduce<number>((sum, count = 0) => sum + count, 0);
}

export function isRate(rate: number, max: number): boolean {
  return Number.isInteger(rate) && rate >= 1 && rate <= max;
}
