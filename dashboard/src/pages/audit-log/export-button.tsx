import { useState } from 'react';
import { type ApiResponse, callApi } from '../../api/client.ts';
import type { AuditEntry } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { toast } from '../../ui/toast.tsx';
import { csvOf } from './csv.ts';
import { type Filter, isBefore, matchesFilter } from './matches-filter.ts';

const PAGE_SIZE = 100;
/** The most that one file has. */
const ENTRIES_MAX = 10_000;

/** Saves the entries that the filter selects, also those that are not loaded yet, as a CSV file. */
export function ExportButton({ filter }: { filter: Filter }) {
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const { entries, isComplete } = await matching(filter);
      download(csvOf(entries));
      if (!isComplete)
        toast.error(new Error(`The file has the last ${ENTRIES_MAX.toLocaleString()} entries that match`));
    } catch (error) {
      toast.error(error as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button busy={busy} onClick={() => void save()}>
      Export CSV
    </Button>
  );
}

async function matching(filter: Filter): Promise<{ entries: AuditEntry[]; isComplete: boolean }> {
  const now = Date.now();
  const entries: AuditEntry[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: PAGE_SIZE, cursor };
    const page: ApiResponse<AuditEntry[]> = await callApi('/v1/audit', { query });
    entries.push(...page.data.filter((entry) => matchesFilter(entry, filter, now)));
    if (isBefore(page.data.at(-1), filter, now)) break;
    cursor = page.metadata.cursor;
  } while (cursor !== undefined && entries.length < ENTRIES_MAX);
  return { entries: entries.slice(0, ENTRIES_MAX), isComplete: cursor === undefined || entries.length < ENTRIES_MAX };
}

function download(text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = `audit-log-${new Date().toISOString().slice(0, 10)}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}
