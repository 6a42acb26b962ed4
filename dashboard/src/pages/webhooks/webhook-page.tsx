import { Page } from '../../ui/page.tsx';

export default function WebhooksWebhookPage() {
  return <Page title="webhooks">{null}</Page>;
}
