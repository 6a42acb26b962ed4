import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import type { App } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { useTell } from '../../ui/toast.tsx';
import { useRegister } from './register-dialog.tsx';

export function AppActions({ app: { name, url } }: { app: App }) {
  const env = useEnv();
  const tell = useTell();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const register = useRegister();
  const [busy, setBusy] = useState(false);
  const registerAgain = async () => {
    setBusy(true);
    await register(url).catch((error: Error) => tell.failed(error));
    setBusy(false);
  };
  const remove = async () => {
    try {
      await callApi(`/v1/apps/${encodeURIComponent(name)}`, { method: 'DELETE', env });
      tell.done(`${name} is removed; its functions are archived`);
      await navigate({ to: '/apps' });
      for (const thing of ['apps', 'functions', 'function']) void queries.invalidateQueries({ queryKey: [thing, env] });
      queries.removeQueries({ queryKey: ['app', env, name] });
    } catch (error) {
      tell.failed(error as Error);
    }
  };
  return (
    <>
      <ConfirmButton
        icon="trash"
        title={`Remove ${name}?`}
        text="Its functions are archived: no event triggers them, while their runs under way finish. The app comes back when it registers again."
        confirmLabel="Remove it"
        onConfirm={remove}
      >
        Remove
      </ConfirmButton>
      <Button icon="again" busy={busy} onClick={() => void registerAgain()}>
        Register again
      </Button>
    </>
  );
}
