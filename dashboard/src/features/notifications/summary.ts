/** Events since the last notification. */
export interface Activity {
  /** The function of each failed run, by the run's ID: two live updates may both report its failure. */
  failedRuns: Map<string, string>;
  heldEvents: number;
  newIssues: number;
}

export const noActivity = (): Activity => ({ failedRuns: new Map(), heldEvents: 0, newIssues: 0 });

/** @returns the title and the page that a notification leads to; undefined: nothing to report */
export function summaryOf({ failedRuns, heldEvents, newIssues }: Activity): { text: string; path: string } | undefined {
  const parts: [text: string, path: string][] = [];
  const functions = [...new Set(failedRuns.values())];
  const [first] = functions;
  if (first !== undefined) {
    const of = functions.length === 1 ? first : `${first} and ${functions.length - 1} more`;
    parts.push([`${counted(failedRuns.size, 'run')} failed: ${of}`, '/runs?status=Failed']);
  }
  if (newIssues > 0) parts.push([`${counted(newIssues, 'webhook issue')} opened`, '/webhook-issues']);
  if (heldEvents > 0) parts.push([`${counted(heldEvents, 'event')} held`, '/held-events']);
  const path = parts[0]?.[1];
  return path === undefined ? undefined : { text: parts.map(([text]) => text).join(', '), path };
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
