import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useId, useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { TextField } from '../../ui/field.tsx';
import { useTell } from '../../ui/toast.tsx';

/** Has the app behind a URL register. What the service could not do is said in place. */
export function RegisterDialog({ open, onClose }: { open: boolean; onClose(): void }) {
  const register = useRegister();
  const formId = useId();
  const [url, setUrl] = useState('');
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (open) setError(undefined);
  }, [open]);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await register(url.trim());
      setUrl('');
      onClose();
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open={open}
      title="Register an app"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button variant="primary" type="submit" form={formId} busy={busy} disabled={url.trim() === ''}>
            {busy ? 'Asking the app …' : 'Register'}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={(event) => void submit(event)} className="space-y-4">
        <TextField
          label="URL of the app"
          type="url"
          required
          autoFocus
          placeholder="http://127.0.0.1:3000/api/service"
          hint="Where the app serves its functions. The service asks it there to register, and it must be reachable from the service."
          value={url}
          onChange={({ target }) => setUrl(target.value)}
        />
        {error && <ErrorAlert error={error} />}
      </form>
    </Dialog>
  );
}

/** @returns asks the app at a URL to register, in this environment
 *  @throws ApiError from what it returns */
export function useRegister() {
  const env = useEnv();
  const queries = useQueryClient();
  const tell = useTell();
  return async (url: string) => {
    try {
      await callApi('/v1/apps', { method: 'POST', env, body: { url } });
      tell.done('The app has registered');
    } finally {
      for (const thing of ['apps', 'app', 'functions', 'function'])
        void queries.invalidateQueries({ queryKey: [thing, env] });
    }
  };
}
