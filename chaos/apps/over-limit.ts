/** The step that an app reports instead of a call when more calls are in flight than the function's concurrency limit allows. */
export const OVER_LIMIT = '(over the limit)';
