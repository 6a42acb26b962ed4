import { type FormEvent, useState } from 'react';
import { callApi } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { TextField } from '../../ui/field.tsx';
import { Card } from '../../ui/page.tsx';
import { useAction } from '../../ui/use-action.ts';

/** Same minimum as the service (src/model/auth/user.ts, which would import its validation). */
const PASSWORD_MIN = 12;

export function PasswordForm({ email }: { email: string }) {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const change = useAction({
    run: () =>
      callApi('/auth/change-password', { method: 'POST', body: { current_password: current, password: next } }),
    successMessage: 'Password changed. Your other sessions have ended.',
    invalidates: 'account',
    onSuccess: () => {
      setCurrent('');
      setNext('');
    },
    showsError: true,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <Card title="Password">
      <form onSubmit={submit} className="max-w-md space-y-4 p-4">
        {change.error && <ErrorAlert error={change.error} />}
        <input type="email" name="username" autoComplete="username" value={email} readOnly hidden />
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          value={current}
          required
          onChange={({ target }) => setCurrent(target.value)}
        />
        <TextField
          label="New password"
          hint={`At least ${PASSWORD_MIN} characters. Changing it ends all your other sessions.`}
          type="password"
          autoComplete="new-password"
          value={next}
          required
          minLength={PASSWORD_MIN}
          maxLength={256}
          onChange={({ target }) => setNext(target.value)}
        />
        <Button type="submit" busy={change.isPending}>
          Change password
        </Button>
      </form>
    </Card>
  );
}
