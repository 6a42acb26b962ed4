import { type FormEvent, useState } from 'react';
import { useDeed } from '../../app/use-deed.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Card } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { changePassword } from './change-password.ts';

/** As the service demands (src/model/auth/user.ts, which would bring its validation along). */
const PASSWORD_MIN = 12;

/** For whoever has signed in: their own password. */
export function OwnPassword({ email }: { email: string }) {
  const [present, setPresent] = useState('');
  const [next, setNext] = useState('');
  const change = useDeed({
    act: () => changePassword(present, next),
    told: 'Your password is changed; your other sessions are over',
    changes: 'me',
    onDone: () => {
      setPresent('');
      setNext('');
    },
    quietly: true,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <Card title="Your password">
      <form onSubmit={submit} className="max-w-md space-y-4 p-4">
        {change.error && <Problem error={change.error} />}
        <input type="email" name="username" autoComplete="username" value={email} readOnly hidden />
        <TextField
          label="Present password"
          type="password"
          autoComplete="current-password"
          value={present}
          required
          onChange={({ target }) => setPresent(target.value)}
        />
        <TextField
          label="New password"
          hint={`At least ${PASSWORD_MIN} characters. All your other sessions are over when you change it.`}
          type="password"
          autoComplete="new-password"
          value={next}
          required
          minLength={PASSWORD_MIN}
          maxLength={256}
          onChange={({ target }) => setNext(target.value)}
        />
        <Button type="submit" busy={change.isPending}>
          Change it
        </Button>
      </form>
    </Card>
  );
}
