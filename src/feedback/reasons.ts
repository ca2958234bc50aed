// What status codes say about why an email came back, in the words of events/reasons.ts.
// classify.ts decides with it.
import type { Reason } from '../events/reasons.ts';

export interface CodeMeaning {
  reason: Reason;
  /** False if servers use the code for everything, so that the words of the reply count more. */
  specific: boolean;
}

const specific = (reason: Reason): CodeMeaning => ({ reason, specific: true });
const generic = (reason: Reason): CodeMeaning => ({ reason, specific: false });

// RFC 3463 and the IANA registry "SMTP Enhanced Status Codes", without the class; then what
// Exchange Online adds.
const ENHANCED: Readonly<Record<string, CodeMeaning>> = {
  '1.0': generic('user-unknown'),
  '1.1': specific('user-unknown'),
  '1.2': specific('host-unknown'),
  '1.3': specific('user-unknown'),
  '1.4': specific('user-unknown'),
  '1.6': specific('moved'),
  '1.7': generic('policy'), // the sender's address
  '1.8': generic('policy'),
  '1.9': generic('protocol'),
  '1.10': specific('host-unknown'), // null MX; Exchange means an unknown recipient, and says so in words
  '1.90': specific('rate-limited'),
  '2.0': generic('other'),
  '2.1': specific('mailbox-disabled'),
  '2.2': specific('mailbox-full'),
  '2.3': specific('too-large'),
  '2.4': generic('system'),
  '2.121': specific('rate-limited'),
  '2.122': specific('rate-limited'),
  '3.0': generic('system'),
  '3.1': generic('system'),
  '3.2': generic('system'),
  '3.3': generic('protocol'),
  '3.4': specific('too-large'),
  '3.5': generic('system'),
  '4.0': generic('network'),
  '4.1': generic('network'),
  '4.2': generic('network'),
  '4.3': generic('network'),
  '4.4': specific('host-unknown'),
  '4.5': generic('rate-limited'),
  '4.6': specific('loop'),
  '4.7': specific('expired'),
  '4.8': generic('policy'), // MTA-STS
  '4.14': specific('loop'),
  '4.300': specific('expired'),
  '4.310': specific('host-unknown'),
  '4.312': generic('host-unknown'),
  '4.316': generic('network'),
  '5.0': generic('protocol'),
  '5.3': specific('rate-limited'), // too many recipients
  '6.0': generic('content'),
  '6.7': specific('protocol'), // addresses that are not ASCII
  '7.0': generic('policy'),
  '7.1': generic('policy'),
  '7.2': generic('policy'),
  '7.4': generic('authentication'),
  '7.5': generic('authentication'),
  '7.7': generic('content'),
  '7.8': specific('authentication'),
  '7.9': generic('authentication'), // Yahoo: policy
  '7.12': generic('authentication'),
  '7.13': specific('mailbox-disabled'),
  '7.14': generic('authentication'),
  '7.16': specific('too-large'),
  '7.17': specific('user-unknown'), // RFC 7293: the mailbox has a new owner
  '7.18': specific('host-unknown'),
  '7.20': specific('authentication'), // DKIM, RFC 7372
  '7.21': specific('authentication'),
  '7.22': specific('authentication'),
  '7.23': specific('authentication'), // SPF
  '7.24': specific('authentication'),
  '7.25': specific('policy'), // reverse DNS
  '7.26': specific('authentication'),
  '7.27': specific('authentication'),
  '7.28': specific('rate-limited'),
  '7.29': generic('authentication'),
  '7.30': specific('authentication'),
  '7.32': specific('authentication'),
  '7.40': specific('authentication'),
  '7.57': specific('authentication'),
  '7.64': specific('relay-denied'),
  '7.508': specific('rate-limited'),
  '7.509': specific('authentication'),
  '7.511': specific('spam'),
  '7.512': specific('content'),
  '7.515': specific('authentication'),
  '7.708': specific('spam'),
};

// Whole subjects, for details not listed above (RFC 3463 3.6 to 3.8).
const SUBJECTS: Readonly<Record<string, CodeMeaning>> = {
  1: generic('user-unknown'),
  3: generic('system'),
  4: generic('network'),
  5: generic('protocol'),
  6: generic('content'),
  7: generic('policy'),
};

/** What `5.7.26` says. */
export function enhancedMeaning(status: string): CodeMeaning {
  const [, subject = '', detail = ''] = status.split('.');
  const listed = ENHANCED[`${subject}.${detail}`];
  if (listed !== undefined) return listed;
  const number = Number(detail);
  if (subject === '7' && number >= 501 && number <= 503) return specific('spam');
  if (subject === '7' && number >= 606 && number <= 649) return specific('spam');
  if (subject === '7' && number >= 500 && number <= 899 && status.startsWith('4')) {
    return specific('rate-limited');
  }
  return SUBJECTS[subject] ?? generic('other');
}

// RFC 5321 4.2.3 with RFC 7504 (521, 556) and RFC 4954 (53x). Used only if nothing else says
// anything.
const REPLIES: Readonly<Record<string, Reason>> = {
  500: 'protocol',
  501: 'protocol',
  502: 'protocol',
  503: 'protocol',
  504: 'protocol',
  521: 'host-unknown',
  525: 'mailbox-disabled',
  530: 'authentication',
  534: 'authentication',
  535: 'authentication',
  538: 'authentication',
  551: 'user-unknown',
  552: 'mailbox-full',
  555: 'protocol',
  556: 'host-unknown',
  571: 'policy',
};

/** What a bare `552` says; 4xx and 554 say nothing. */
export function replyReason(code: string): Reason {
  return REPLIES[code] ?? (code.startsWith('4') ? 'system' : 'other');
}
