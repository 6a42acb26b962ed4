/** Statuses of runs. This file imports nothing, because the dashboard uses it in the browser. */

export const RUN_STATUSES = ['Queued', 'Running', 'Completed', 'Failed', 'Cancelled'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
