/** What a check found, as `GET /v1/health/checks` has it too. */
export interface Finding {
  id: string;
  status: 'ok' | 'warning' | 'problem';
  message: string;
  /** What to do; null: nothing. */
  remedy: string | null;
}

export const ok = (id: string, message: string): Finding => ({ id, status: 'ok', message, remedy: null });
export const warning = (id: string, message: string, remedy: string): Finding => {
  return { id, status: 'warning', message, remedy };
};
export const problem = (id: string, message: string, remedy: string): Finding => {
  return { id, status: 'problem', message, remedy };
};
