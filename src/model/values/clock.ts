/** The current time, Unix milliseconds. Rules take the time from it or as an argument, so that tests can set it. */
export type Clock = () => number;

/** The time of the machine, which moves of the dev clock do not change. For processes, connections and signatures; everything else uses
 *  the time of the process, `Date.now()`. */
export const machineTime: Clock = Date.now;
