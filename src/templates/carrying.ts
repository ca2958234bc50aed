// What an email carries beside its HTML: QR codes, the pictures of samples, a calendar file.
// Templates ask for each by a mark in the HTML. Before: email-maker.ts rendered it, in a thread.
// After: sending/accept.ts puts the files beside it.
import { carryCalendarFile } from './calendar-file.ts';
import type { CarriedFile } from './carried-file.ts';
import { carryQrCodes } from './qr-codes.ts';
import { carrySamplePictures, type Pictures } from './sample-pictures.ts';

export function carryFiles(
  rendered: string,
  pictures: Pictures,
): { html: string; files: CarriedFile[] } {
  const codes = carryQrCodes(rendered);
  const samples = carrySamplePictures(codes.html, pictures);
  const calendar = carryCalendarFile(samples.html);
  return { html: calendar.html, files: [...codes.files, ...samples.files, ...calendar.files] };
}
