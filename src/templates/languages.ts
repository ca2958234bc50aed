// The languages that the catalogue is written in: one file each in catalog/messages. For pages that
// let someone choose one.

export const LANGUAGES = ['ar', 'de', 'en', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt'] as const;
