import { Icon } from '../../ui/icon.tsx';

/** Parts of the function's configuration that do not work. */
export function Problems({ problems }: { problems: string[] }) {
  return (
    <div role="status" className="flex items-start gap-3 rounded-lg border border-warn/40 bg-warn-soft p-4 text-text">
      <Icon name="warning" className="mt-0.5 text-warn" />
      <div className="min-w-0 flex-1">
        <p>This function does not work as configured. Correct it, and register the app again.</p>
        <ul className="mt-2 list-disc space-y-1 pl-5">
          {problems.map((problem) => (
            <li key={problem} className="break-words">
              {problem}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
