/** A health check: its findings, each with a fix. */

export const CHECK_STATUSES = ['ok', 'warning', 'problem'] as const;
/** `problem`: something does not work, or accepted events may be lost; `warning`: it works, but something should be fixed. */
export type CheckStatus = (typeof CHECK_STATUSES)[number];

export interface Finding {
  status: CheckStatus;
  message: string;
  /** Absent if there is nothing to do. */
  remedy?: string;
}

export interface HealthCheck {
  /** Lower case with underscores. */
  id: string;
  run(nowMs: number): Promise<Finding[]>;
}

export const ok = (message: string): Finding => ({ status: 'ok', message });
export const warning = (message: string, remedy: string): Finding => ({ status: 'warning', message, remedy });
export const problem = (message: string, remedy: string): Finding => ({ status: 'problem', message, remedy });

/** The findings, or a message that all is well. */
export function orOk(found: readonly Finding[], message: string): Finding[] {
  return found.length > 0 ? [...found] : [ok(message)];
}
