import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { useHasAccess } from '../../api/current-user.ts';
import { useEnvironments } from '../../api/environment.ts';
import { Select, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import type { Assignment } from './assignment.ts';
import { useAssign } from './queries.ts';

interface AssignDialogProps {
  assignment: Assignment | undefined;
  onClose(): void;
  onDone(): void;
}

export function AssignDialog({ assignment, onClose, onDone }: AssignDialogProps) {
  const { submit, busy, error, reset } = useSubmit(assignment, () => {
    onClose();
    onDone();
  });
  const close = () => {
    reset();
    onClose();
  };
  return (
    <FormDialog
      open={assignment !== undefined}
      title={`Assign ${assignment?.label ?? ''}`}
      submitLabel="Assign"
      busy={busy}
      error={error}
      onSubmit={submit}
      onClose={close}
    >
      <Fields suggested={assignment?.suggestedEnvironment} />
      <p className="text-muted">
        The environment ingests it like a new event and runs its functions. This cannot be undone.
      </p>
    </FormDialog>
  );
}

/** An existing environment, or, for admins, a new branch environment. */
function Fields({ suggested }: { suggested: string | undefined }) {
  const isAdmin = useHasAccess('admin');
  const environments = useEnvironments().filter(({ archived_at }) => archived_at === null);
  const known = suggested === undefined || environments.some(({ name }) => name === suggested);
  const [selected, setSelected] = useState<string>();
  const environment =
    selected ?? (known ? (suggested ?? environments[0]?.name) : isAdmin ? NEW : environments[0]?.name);
  return (
    <>
      <Select
        label="Environment"
        name="environment"
        value={environment ?? ''}
        onChange={({ target }) => setSelected(target.value)}
        hint={known ? undefined : `The request named the environment ${suggested}, which does not exist.`}
      >
        {environments.map(({ name, kind }) => (
          <option key={name} value={name}>
            {kind === 'branch' ? `${name} (branch)` : name}
          </option>
        ))}
        {isAdmin && <option value={NEW}>New branch environment…</option>}
      </Select>
      {environment === NEW && (
        <TextField
          label="Branch name"
          name="branch"
          required
          maxLength={64}
          autoComplete="off"
          defaultValue={known ? '' : suggested}
          hint="Letters and digits, separated by _ . - or /."
        />
      )}
    </>
  );
}

/** Not a valid environment name. */
const NEW = '+';

/** A retry after a failed assignment finds the branch created. */
function ignoreExisting(error: unknown): void {
  if (!isExisting(error)) throw error;
}

function isExisting(error: unknown): boolean {
  return (error as { code?: string } | null)?.code === 'environment_exists';
}

function useSubmit(assignment: Assignment | undefined, done: () => void) {
  const queries = useQueryClient();
  const assign = useAssign();
  const createBranch = useMutation({
    mutationFn: (name: string) => callApi('/v1/environments', { method: 'POST', body: { name, kind: 'branch' } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['environments'] }),
  });
  const run = async (selected: string, branch: string) => {
    if (!assignment) return;
    if (selected === NEW) await createBranch.mutateAsync(branch).catch(ignoreExisting);
    const environment = selected === NEW ? branch : selected;
    const count = await assign.mutateAsync({ selection: assignment.selection, environment });
    toast.success(`${count} ${count === 1 ? 'event' : 'events'} assigned to ${environment}`);
    done();
  };
  return {
    busy: createBranch.isPending || assign.isPending,
    error: assign.error ?? (isExisting(createBranch.error) ? null : createBranch.error),
    reset() {
      createBranch.reset();
      assign.reset();
    },
    submit(form: HTMLFormElement) {
      const fields = new FormData(form);
      // Errors are shown from the state of the mutations.
      run(String(fields.get('environment')), String(fields.get('branch') ?? '').trim()).catch(() => {});
    },
  };
}
