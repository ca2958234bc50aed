// What a check of the doctor found; doctor.ts prints it.
export interface Finding {
  check: string;
  ok: boolean;
  /** It works, but it could be better and someone should know. */
  warning?: true;
  detail: string;
}
