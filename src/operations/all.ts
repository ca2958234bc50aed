// All operations, in the order in which documents list them. A new one is added to the list of its
// resource, or here.
import { accountOperations } from './account.ts';
import { accountsOperations } from './accounts.ts';
import { addressOperations } from './addresses.ts';
import { alertOperations } from './alerts.ts';
import { approvalOperations } from './approvals.ts';
import { auditOperations } from './audit.ts';
import { brandingOperations } from './branding.ts';
import { domainOperations } from './domains.ts';
import { followOperations } from './follow-email.ts';
import { getMessage } from './get-message.ts';
import { getTemplate } from './get-template.ts';
import { keptFeedbackOperations } from './kept-feedback.ts';
import { keyOperations } from './keys.ts';
import { lintOperations } from './lint.ts';
import { listTemplates } from './list-templates.ts';
import { contentOperations } from './message-content.ts';
import { messageOperations } from './messages.ts';
import type { Operation } from './operation.ts';
import { previewEmail } from './preview-email.ts';
import { recallOperations } from './recalls.ts';
import { receiverOperations } from './receivers.ts';
import { recipientOperations } from './recipients.ts';
import { relayOperations } from './relays.ts';
import { retentionOperations } from './retention.ts';
import { sandboxOperations } from './sandbox.ts';
import { sendBatch } from './send-batch.ts';
import { sendEmail } from './send-email.ts';
import { serviceOperations } from './service.ts';
import { streamOperations } from './streams.ts';
import { suppressionOperations } from './suppressions.ts';
import { teamOperations } from './team.ts';
import { previewOperations } from './template-previews.ts';
import { rehearseBranding, rehearseTemplate } from './template-rehearsals.ts';
import { templateOperations } from './templates.ts';
import { usageOperations } from './usage.ts';
import { webhookDeliveryOperations } from './webhook-deliveries.ts';
import { webhookOperations } from './webhooks.ts';

export const OPERATIONS: readonly Operation[] = [
  sendEmail,
  sendBatch,
  previewEmail,
  getMessage,
  ...followOperations,
  ...recallOperations,
  ...approvalOperations,
  ...messageOperations,
  ...contentOperations,
  listTemplates,
  getTemplate,
  ...templateOperations,
  ...previewOperations,
  ...lintOperations,
  rehearseTemplate,
  ...brandingOperations,
  rehearseBranding,
  ...domainOperations,
  ...addressOperations,
  ...streamOperations,
  ...suppressionOperations,
  ...recipientOperations,
  ...webhookOperations,
  ...webhookDeliveryOperations,
  ...sandboxOperations,
  ...keyOperations,
  ...teamOperations,
  ...accountOperations,
  ...retentionOperations,
  ...usageOperations,
  ...receiverOperations,
  ...alertOperations,
  ...auditOperations,
  ...accountsOperations,
  ...serviceOperations,
  ...relayOperations,
  ...keptFeedbackOperations,
];
