import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { TextField } from '../../ui/field.tsx';
import { Card } from '../../ui/page.tsx';
import { useAction } from '../../ui/use-action.ts';
import { changePassword } from './change-password.ts';

/** Same minimum as the service (src/model/auth/user.ts, which would import its validation). */
const PASSWORD_MIN = 12;

/** Changes the signed-in user's own password. */
export function OwnPassword({ email }: { email: string }) {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const change = useAction({
    run: () => changePassword(current, next),
    successMessage: 'Password changed. Your other sessions have ended.',
    invalidates: 'me',
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
    <Card title="Your password">
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
