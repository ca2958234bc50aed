// Lanes: which class a mail has within the lane of its account. Written by sending/batch.ts, read
// by claim_due.

/** Urgent goes first and bulk last, and each gets a share. The numbers are stored. */
export const CLASSES = { urgent: 0, normal: 1, bulk: 2 } as const;

export type MailClass = keyof typeof CLASSES;
