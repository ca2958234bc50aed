// The nonce that the server wrote into the page: <style> elements need it (Content-Security-Policy
// style-src).
const meta = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]');

export const styleNonce: string = meta?.nonce ?? '';
