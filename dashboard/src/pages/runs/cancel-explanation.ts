export const CANCEL_EXPLANATION =
  'The function is not called again and its waits are dropped. A call in progress is not aborted, but its response is ignored. This cannot be undone; you can re-run the function from the start.';
