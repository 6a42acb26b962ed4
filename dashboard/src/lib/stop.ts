/** How far a list got, when something stopped it before the page was full. */
export interface Stop {
  why: 'archive_unavailable' | 'time';
  /** ISO 8601: everything newer is in the list; undefined: unknown. */
  at: string | undefined;
}

/** The fields in the metadata of a list that say where the search stopped. */
export interface StopMetadata {
  /** Why the list may be incomplete; the cursor continues from there. */
  stopped_early?: Stop['why'];
  /** Everything newer was looked at. */
  stopped_at?: string;
}

export function stopOf({ stopped_early: why, stopped_at: at }: StopMetadata): Stop | undefined {
  return why && { why, at };
}
