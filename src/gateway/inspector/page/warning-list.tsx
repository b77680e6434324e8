import type { ExchangeWarning } from '../../exchange-log.ts'
import { toVisibleText } from './format.ts'

export const STAGES = {
  'client-request': 'Client request',
  'upstream-request': 'Request to the model',
  'upstream-response': 'Response of the model',
  'client-response': 'Client response',
} as const

/** Calls that were rescued from text or rejected, and data that was lost, stand out. */
const LOUD = /call|hosted|unread|unfinished|dropped|not-json|signature/

export function WarningList({ warnings }: { readonly warnings: readonly ExchangeWarning[] }) {
  return (
    <ul class="warnings">
      {warnings.map(({ code, message, stage }, at) => (
        <li key={at} class={LOUD.test(code) ? 'loud' : ''} data-code={code}>
          <code>{toVisibleText(code)}</code>
          <span>{toVisibleText(message)}</span>
          {stage && <span class="muted stage">{STAGES[stage]}</span>}
        </li>
      ))}
    </ul>
  )
}
