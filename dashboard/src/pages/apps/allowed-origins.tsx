import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnv } from '../../api/environment.ts';
import type { App } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { TextArea } from '../../ui/field.tsx';
import { Card } from '../../ui/page.tsx';
import { useAction } from '../../ui/use-action.ts';

/** Origins at which the app may register by itself. */
export function AllowedOrigins({ app }: { app: App }) {
  const [open, setOpen] = useState(false);
  const canWrite = useHasAccess('write');
  const { allowed_origins: origins } = app;
  return (
    <Card title="Allowed origins" actions={canWrite && <Button onClick={() => setOpen(true)}>Edit origins</Button>}>
      {origins.length === 0 ? (
        <p className="p-4 text-sm text-muted">
          None. A registration at another origin than the present one waits for confirmation.
        </p>
      ) : (
        <ul className="space-y-1 p-4 font-mono text-xs break-all">
          {origins.map((origin) => (
            <li key={origin}>{origin}</li>
          ))}
        </ul>
      )}
      {open && <EditDialog app={app} onClose={() => setOpen(false)} />}
    </Card>
  );
}

function EditDialog({ app: { name, allowed_origins: origins }, onClose }: { app: App; onClose(): void }) {
  const env = useEnv();
  const [text, setText] = useState(origins.join('\n'));
  const save = useAction({
    run: () =>
      callApi(`/v1/allowed-origins/${encodeURIComponent(name)}`, {
        method: 'PUT',
        env,
        body: { origins: text.split(/\s+/).filter(Boolean) },
      }),
    successMessage: 'Allowed origins saved',
    invalidates: 'app',
    onSuccess: onClose,
    showsError: true,
  });
  return (
    <Dialog
      open
      title="Allowed origins"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" busy={save.isPending} onClick={() => save.mutate()}>
            Save
          </Button>
        </>
      }
    >
      <div className="space-y-4">
        <TextArea
          label="Origins"
          hint="One per line: scheme, host and port, such as https://shop.example.com. * stands for a part of a label: https://shop-*-acme.example.app"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        {save.error && <ErrorAlert error={save.error} />}
      </div>
    </Dialog>
  );
}
