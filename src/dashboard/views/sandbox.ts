// The sandbox’s inbox. Types only, so that web/ reads them too.
import type { Page } from './common.ts';

export interface SandboxRow {
  id: string;
  capturedAt: string;
  from: string;
  recipients: string[];
  subject: string;
  messageId: string | null;
  size: number;
}

export interface SandboxMail extends SandboxRow {
  headers: [name: string, value: string][];
  html: string | null;
  text: string | null;
  attachments: { filename: string; contentType: string; size: number }[];
  /** As it went over the wire. */
  raw: string;
}

export interface SandboxInbox extends Page<SandboxRow> {
  /** Addresses that play a part, for the cheat-sheet. */
  simulator: { address: string; plays: string }[];
}
