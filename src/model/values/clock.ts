/** The present time, Unix milliseconds. Rules take the time from it or as an argument, so that tests can set it. */
export type Clock = () => number;

/** The time of the machine. It stays what it is when the clock of dev mode is moved, so it is for what concerns processes,
 *  connections and signatures; everything else has the time of the process, `Date.now()`. */
export const machineTime: Clock = Date.now;
