/** An event whose run waits for another for longer than chaos lasts: it is stuck unless it gets the one that is sent to it. */
export const LONG_WAIT = 'chaos/long-wait';
