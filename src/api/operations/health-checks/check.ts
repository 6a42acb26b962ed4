/** A health check: what it found, and how to mend that. */

export const CHECK_STATUSES = ['ok', 'warning', 'problem'] as const;
/** problem: something does not work, or accepted events may be lost; warning: it works, and something should be mended. */
export type CheckStatus = (typeof CHECK_STATUSES)[number];

export interface Finding {
  status: CheckStatus;
  message: string;
  /** Absent: there is nothing to do. */
  remedy?: string;
}

export interface HealthCheck {
  /** In lower case with underscores. */
  id: string;
  run(nowMs: number): Promise<Finding[]>;
}

export const ok = (message: string): Finding => ({ status: 'ok', message });
export const warning = (message: string, remedy: string): Finding => ({ status: 'warning', message, remedy });
export const problem = (message: string, remedy: string): Finding => ({ status: 'problem', message, remedy });

/** What was found, or that all is well. */
export function orOk(found: readonly Finding[], message: string): Finding[] {
  return found.length > 0 ? [...found] : [ok(message)];
}
