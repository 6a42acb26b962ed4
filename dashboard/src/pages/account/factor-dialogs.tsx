import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useAction } from '../../ui/use-action.ts';
import { createPasskey } from './create-passkey.ts';

interface Changed {
  recovery_codes: string[];
}

interface TotpSetUp {
  set_up: string;
  secret: string;
  qr: string;
}

interface DialogProps {
  email: string;
  /** With new recovery codes, if there are any. */
  onDone(recoveryCodes: string[]): void;
  onClose(): void;
}

const post = <T,>(path: string, body: object) => callApi<T>(`/auth/account/${path}`, { method: 'POST', body });

function CurrentPassword({ email, value, onChange }: { email: string; value: string; onChange(value: string): void }) {
  return (
    <>
      <input type="email" name="username" autoComplete="username" value={email} readOnly hidden />
      <TextField
        label="Current password"
        hint="Changes of second factors end your other sessions."
        type="password"
        autoComplete="current-password"
        value={value}
        required
        data-autofocus
        onChange={({ target }) => onChange(target.value)}
      />
    </>
  );
}

/** A change that needs only the password.
 *  @param path under `/auth/account` */
export function PasswordDialog({
  title,
  text,
  submitLabel,
  path,
  body = {},
  email,
  onDone,
  onClose,
}: DialogProps & { title: string; text: string; submitLabel: string; path: string; body?: object }) {
  const [password, setPassword] = useState('');
  const change = useAction({
    run: () => post<Changed>(path, { ...body, current_password: password }),
    invalidates: 'account',
    onSuccess: ({ data }) => onDone(data.recovery_codes),
    showsError: true,
  });
  return (
    <FormDialog
      title={title}
      submitLabel={submitLabel}
      busy={change.isPending}
      error={change.error}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      <p>{text}</p>
      <CurrentPassword email={email} value={password} onChange={setPassword} />
    </FormDialog>
  );
}

/** First the password, then the code that the app makes of the new secret. */
export function TotpDialog({ email, onDone, onClose }: DialogProps) {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const begin = useAction({
    run: () => post<TotpSetUp>('totp/set-up', { current_password: password }),
    invalidates: 'account',
    showsError: true,
  });
  const setUp = begin.data?.data;
  const add = useAction({
    run: () => post<Changed>('totp', { set_up: setUp?.set_up, code }),
    invalidates: 'account',
    onSuccess: ({ data }) => onDone(data.recovery_codes),
    showsError: true,
  });
  return (
    <FormDialog
      title="Set up an authenticator app"
      submitLabel={setUp ? 'Set up' : 'Continue'}
      busy={begin.isPending || add.isPending}
      error={setUp ? add.error : begin.error}
      onSubmit={() => (setUp ? add.mutate() : begin.mutate())}
      onClose={onClose}
    >
      {setUp ? (
        <>
          <p>Scan this with the app, such as the one of your password manager, then enter the code that it shows.</p>
          <img src={setUp.qr} alt="QR code of the secret below" className="mx-auto size-48 rounded-md bg-white p-2" />
          <p className="text-sm text-muted">
            Or enter this secret: <code className="font-mono break-all text-text">{setUp.secret}</code>
          </p>
          <TextField
            label="Code"
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={6}
            pattern="[0-9]{6}"
            value={code}
            required
            onChange={({ target }) => setCode(target.value)}
          />
        </>
      ) : (
        <CurrentPassword email={email} value={password} onChange={setPassword} />
      )}
    </FormDialog>
  );
}

export function PasskeyDialog({ email, onDone, onClose }: DialogProps) {
  const [password, setPassword] = useState('');
  const [name, setName] = useState('');
  const add = useAction({
    run: async () => {
      const { data } = await post<PublicKeyCredentialCreationOptionsJSON>('passkeys/set-up', {
        current_password: password,
      });
      return post<Changed>('passkeys', { name, credential: await createPasskey(data) });
    },
    invalidates: 'account',
    onSuccess: ({ data }) => onDone(data.recovery_codes),
    showsError: true,
  });
  return (
    <FormDialog
      title="Add a passkey"
      submitLabel="Add"
      busy={add.isPending}
      error={add.error}
      onSubmit={() => add.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Such as the device that keeps it."
        value={name}
        required
        maxLength={64}
        onChange={({ target }) => setName(target.value)}
      />
      <CurrentPassword email={email} value={password} onChange={setPassword} />
    </FormDialog>
  );
}
