import { Badge } from '../../../ui/status-badge.tsx';

export function LiveBadge() {
  return (
    <Badge tone="good" icon="check" title="Handles requests now">
      live
    </Badge>
  );
}
