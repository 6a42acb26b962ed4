/** The present time, Unix milliseconds. Rules take the time from it or as an argument, so that tests can set it. */
export type Clock = () => number;
