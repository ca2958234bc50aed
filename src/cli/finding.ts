// What a check of the doctor found; doctor.ts prints it.
export interface Finding {
  check: string;
  ok: boolean;
  /** It works, and somebody should know that it could be better. */
  warning?: true;
  detail: string;
}
