// /verify/TOKEN: the link in a verification email. The page asks for one more click, and that click
// verifies: a scanner in the mailbox follows every link, and must not vouch for an address.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { findAddress, VERIFY_PATH, verifyAddress } from '../accounts/address-verification.ts';
import type { Log } from '../process/log.ts';
import type { Database } from '../store/pool.ts';
import { sendPage } from './page.ts';

export async function answerVerify(
  deps: { database: Database; log: Log },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  request.resume();
  const [path = ''] = (request.url ?? '').split('?');
  const token = path.slice(VERIFY_PATH.length);
  if (request.method === 'POST') {
    const verified = await verifyAddress(deps.database, token);
    if (verified === undefined) return sendUsedUp(response);
    deps.log.info({ account: verified.accountId }, 'an address is verified');
    return sendPage(response, 200, {
      title: 'Thank you',
      text: `${verified.address} is verified. The account can now send email from it.`,
    });
  }
  const address = await findAddress(deps.database, token);
  if (address === undefined) return sendUsedUp(response);
  sendPage(response, 200, {
    title: 'Send email from this address?',
    text: `An account wants to send email from ${address}. Confirm only if you know about it.`,
    button: `Yes, verify ${address}`,
  });
}

function sendUsedUp(response: ServerResponse): void {
  sendPage(response, 404, {
    title: 'This link no longer works',
    text: 'It was used, is older than two days, or was replaced by a newer one. Ask for a new verification email.',
  });
}
