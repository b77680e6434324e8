import { parseLoggedRequestPrefix } from '../../../agent/loop/request-log.ts'
import type { Block } from '../../../gateway/inspector/inspected-exchange.ts'
import type { InspectedContent, MeasuredResult } from '../../../gateway/inspector/inspector-source.ts'
import { countBlockChars, listRequestBlocks } from '../../../gateway/inspector/list-blocks.ts'
import { collectResults } from '../../../gateway/inspector/list-calls.ts'
import { defined } from '../../../model/defined.ts'
import { deriveModelHistory } from '../../../session/derive-model-history.ts'
import type { Entry } from '../../../session/log/entry.ts'
import type { SessionRequest } from './session-requests.ts'

/** What a request of a session contained. The log has no system prompt and no tools, only their size and their hashes. */
export function readSessionContent(entries: readonly Entry[], request: SessionRequest): InspectedContent {
  const { entry, at, turn } = request
  const turns = deriveModelHistory(entries.slice(0, at))
  const history = listRequestBlocks({ turns, tools: [] }).slice(1)
  const prefix = parseLoggedRequestPrefix(entry.prefix)
  const rest = Math.max(0, entry.bytes - history.reduce((sum, block) => sum + countBlockChars(block), 0))
  const settings = JSON.stringify(defined({ model: entry.model, settings: prefix?.settings }), undefined, 2)
  const hidden: Block[] = [
    { kind: 'settings', label: 'Settings', text: settings, chars: 0 },
    { kind: 'tool', label: 'Tools', text: describeHash('The tools are', prefix?.tools), chars: 0 },
    {
      kind: 'system',
      label: 'System prompt and tools',
      text: describeHash('The system prompt is', prefix?.system),
      chars: rest,
    },
  ]
  return {
    blocks: [...hidden, ...history],
    results: collectResults(turns),
    ...defined({ answer: turn?.turn }),
    remark:
      'The log of a session keeps the conversation, not the bytes. dragoman --record <folder> keeps them, and the gateway shows them.',
  }
}

function describeHash(what: string, hash: string | undefined): string {
  return `${what} not kept in the log${hash === undefined ? '.' : `; the fingerprint is ${hash}.`}`
}

/** The results that followed the response, with their times. */
export function readSessionResults(
  entries: readonly Entry[],
  { at, to }: SessionRequest,
): ReadonlyMap<string, MeasuredResult> {
  const results = entries.slice(at + 1, to).filter((entry) => entry.kind === 'result')
  return new Map(results.map(({ result, ms }) => [result.id, { result, ms }]))
}
