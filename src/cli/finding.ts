// What a check of the doctor found; doctor.ts prints it.
export interface Finding {
  check: string;
  ok: boolean;
  detail: string;
}
