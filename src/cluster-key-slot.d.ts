/** The package has no types of its own. */
declare module 'cluster-key-slot' {
  /** The hash slot of a key, 0 to 16383. */
  function hashSlotOf(key: string): number;
  export = hashSlotOf;
}
