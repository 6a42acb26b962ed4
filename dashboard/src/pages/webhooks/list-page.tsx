import { Page } from '../../ui/page.tsx';

export default function WebhooksListPage() {
  return <Page title="webhooks">{null}</Page>;
}
