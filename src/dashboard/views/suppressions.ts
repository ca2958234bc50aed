// Suppressions. Types only, so that web/ reads them too.

export interface SuppressionRow {
  address: string;
  reason: 'bounce' | 'complaint' | 'unsubscribe' | 'manual';
  /** The mail that led to it. */
  messageId: string | null;
  createdAt: string;
}
