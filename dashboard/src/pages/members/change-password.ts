import { ApiError } from '../../api/client.ts';

/** Not by `ask`: it takes 401 for a session that has ended, and here it means that the present password is wrong.
 *  @throws ApiError */
export async function changePassword(present: string, next: string): Promise<void> {
  const answer = await fetch('/auth/change-password', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ current_password: present, password: next }),
  }).catch(() => {
    throw new ApiError('The service could not be reached', 0, 'unreachable');
  });
  if (answer.ok) return;
  const { error, code } = (await answer.json().catch(() => ({}))) as { error?: string; code?: string };
  const message = code === 'sign_in_failed' ? 'The present password is wrong' : error;
  throw new ApiError(message ?? `The service answered ${answer.status}`, answer.status, code ?? 'unknown');
}
