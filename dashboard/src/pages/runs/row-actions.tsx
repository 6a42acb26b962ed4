import { lazy, Suspense, useMemo, useState } from 'react';
import { hasEnded, type ListedRun } from '../../features/runs/run.ts';
import { IconButton } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';

const RowAction = lazy(() => import('./row-action.tsx'));

/** Cancels or re-runs the run of a row.
 *  @returns the column, and the dialog to render next to the table */
export function useRowActions(onDone: () => void) {
  const [acting, setActing] = useState<ListedRun>();
  const busy = acting?.run_id;
  const column = useMemo((): Column<ListedRun> => {
    const cell = (run: ListedRun) => {
      const [icon, verb] = hasEnded(run) ? (['retry', 'Re-run'] as const) : (['close', 'Cancel run of'] as const);
      // Rows may be lower than the button is.
      return (
        <IconButton
          icon={icon}
          label={`${verb} ${run.function_id}`}
          disabled={busy === run.run_id}
          className="-my-2 align-middle"
          onClick={() => setActing(run)}
        />
      );
    };
    return { id: 'Actions', header: '', width: '2rem', align: 'right', hideOnMobile: true, isFixed: true, cell };
  }, [busy]);
  const close = () => setActing(undefined);
  const dialog = acting && (
    <Suspense>
      <RowAction
        key={acting.run_id}
        run={acting}
        onClose={close}
        onDone={() => {
          close();
          onDone();
        }}
      />
    </Suspense>
  );
  return { column, dialog };
}
