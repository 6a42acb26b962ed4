/** Where a run stands. Imports nothing: the dashboard, in a browser, needs it too. */

export const RUN_STATUSES = ['Queued', 'Running', 'Completed', 'Failed', 'Cancelled'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
