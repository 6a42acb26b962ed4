/** The finding of a check, in the form of `GET /v1/health/checks`. */
export interface Finding {
  id: string;
  status: 'ok' | 'warning' | 'problem';
  message: string;
  /** How to fix it; null: nothing needs to be fixed. */
  remedy: string | null;
}

export const ok = (id: string, message: string): Finding => ({ id, status: 'ok', message, remedy: null });
export const warning = (id: string, message: string, remedy: string): Finding => {
  return { id, status: 'warning', message, remedy };
};
export const problem = (id: string, message: string, remedy: string): Finding => {
  return { id, status: 'problem', message, remedy };
};
