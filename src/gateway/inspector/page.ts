import type { Exchange } from '../exchange-log.ts'

/** Nothing runs and nothing is loaded: what models and pages wrote is shown as text. */
export const INSPECTOR_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}

/** A page with the exchanges, newest first. */
export function createInspectorPage(exchanges: readonly Exchange[]): string {
  const lines = exchanges.toReversed().map(formatExchange)
  const content = lines.length === 0 ? 'There are no requests yet.' : lines.join('\n')
  return `<!doctype html><meta charset="utf-8"><title>Dragoman gateway</title>\n<h1>Dragoman gateway</h1>\n<pre>${escapeHtml(content)}</pre>\n`
}

function formatExchange(exchange: Exchange): string {
  const { started, client, wire, model, provider, upstreamModel, mode, status, firstByteMs, totalMs } = exchange
  const { requestBytes, responseBytes, usage, cost, warnings, fault } = exchange
  const fields = [
    new Date(started).toISOString(),
    client,
    `${wire} ${model}`,
    provider === undefined ? '' : `→ ${provider}/${upstreamModel ?? ''}`,
    mode ?? '',
    status === undefined ? '…' : String(status),
    totalMs === undefined ? '' : `${firstByteMs ?? totalMs}/${totalMs} ms`,
    `${requestBytes} → ${responseBytes} bytes`,
    usage ? `${usage.input + usage.cacheRead + usage.cacheWrite} → ${usage.output + usage.reasoning} tokens` : '',
    cost === undefined ? '' : `$${cost.toFixed(4)}`,
    fault ? `fault: ${fault.message}` : '',
    ...warnings.map(({ code, message }) => `\n    ${code}: ${message}`),
  ]
  return fields.filter((field) => field !== '').join('  ')
}

/** Also control characters, which a page could show as something else. */
function escapeHtml(text: string): string {
  return text
    .replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
}
