import { ApiError } from '../../api/client.ts';

/** Does not use `callApi`, which treats 401 as an ended session; here it means that the current password is wrong.
 *  @throws ApiError */
export async function changePassword(current: string, next: string): Promise<void> {
  const response = await fetch('/auth/change-password', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ current_password: current, password: next }),
  }).catch(() => {
    throw new ApiError('Cannot reach the service', 0, 'unreachable');
  });
  if (response.ok) return;
  const { error, code } = (await response.json().catch(() => ({}))) as { error?: string; code?: string };
  const message = code === 'sign_in_failed' ? 'The current password is wrong' : error;
  throw new ApiError(
    message ?? `The service responded with status ${response.status}`,
    response.status,
    code ?? 'unknown',
  );
}
