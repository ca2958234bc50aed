// All operations, in the order in which documents list them. A new one is added to the list of its
// resource, or here.
import { accountOperations } from './account.ts';
import { accountsOperations } from './accounts.ts';
import { addressOperations } from './addresses.ts';
import { alertOperations } from './alerts.ts';
import { auditOperations } from './audit.ts';
import { brandingOperations } from './branding.ts';
import { domainOperations } from './domains.ts';
import { getMessage } from './get-message.ts';
import { getTemplate } from './get-template.ts';
import { keyOperations } from './keys.ts';
import { listTemplates } from './list-templates.ts';
import { contentOperations } from './message-content.ts';
import { messageOperations } from './messages.ts';
import type { Operation } from './operation.ts';
import { sandboxOperations } from './sandbox.ts';
import { sendEmail } from './send-email.ts';
import { serviceOperations } from './service.ts';
import { suppressionOperations } from './suppressions.ts';
import { teamOperations } from './team.ts';
import { previewOperations } from './template-previews.ts';
import { templateOperations } from './templates.ts';
import { usageOperations } from './usage.ts';
import { webhookDeliveryOperations } from './webhook-deliveries.ts';
import { webhookOperations } from './webhooks.ts';

export const OPERATIONS: readonly Operation[] = [
  sendEmail,
  getMessage,
  ...messageOperations,
  ...contentOperations,
  listTemplates,
  getTemplate,
  ...templateOperations,
  ...previewOperations,
  ...brandingOperations,
  ...domainOperations,
  ...addressOperations,
  ...suppressionOperations,
  ...webhookOperations,
  ...webhookDeliveryOperations,
  ...sandboxOperations,
  ...keyOperations,
  ...teamOperations,
  ...accountOperations,
  ...usageOperations,
  ...alertOperations,
  ...auditOperations,
  ...accountsOperations,
  ...serviceOperations,
];
