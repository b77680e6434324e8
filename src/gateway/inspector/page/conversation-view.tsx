import { useSignal } from '@preact/signals'
import type { BlockSummary, ExchangeDetail, TextSlice } from '../inspected-exchange.ts'
import { fetchJson } from './api.ts'
import { formatCount, plural, toVisibleText } from './format.ts'

/** Blocks that are drawn at once; a long history has thousands. */
const PAGE_BLOCKS = 60

/** The conversation as text: what the model was told, and what it answered. */
export function ConversationView({ detail }: { readonly detail: ExchangeDetail }) {
  const pages = useSignal(1)
  const tools = detail.blocks.filter(
    ({ kind, turn, side }) => kind === 'tool' && turn === undefined && side === 'request',
  )
  const system = detail.blocks.filter(({ kind }) => kind === 'system')
  const history = detail.blocks.filter(
    (block) => !system.includes(block) && !tools.includes(block) && block.kind !== 'settings',
  )
  const from = Math.max(0, history.length - pages.value * PAGE_BLOCKS)
  const id = detail.exchange.id
  return (
    <div class="conversation">
      {tools.length > 0 && (
        <div class="turn meta">
          <span class="role">Tools</span>
          <p class="tool-names">
            {tools.map(({ label, index }) => (
              <code key={index}>{toVisibleText(label)}</code>
            ))}
          </p>
        </div>
      )}
      {system.map((block) => (
        <BlockText key={block.index} id={id} block={block} />
      ))}
      {from > 0 && (
        <button class="link more" onClick={() => pages.value++}>
          Show earlier ({plural(from, 'part')})
        </button>
      )}
      {history.slice(from).map((block) => (
        <BlockText key={block.index} id={id} block={block} />
      ))}
      {!detail.blocks.some(({ side }) => side === 'response') && (
        <p class="muted pad">
          {detail.exchange.totalMs === undefined ? 'The response has not ended yet.' : 'There is no response.'}
        </p>
      )}
    </div>
  )
}

const ROLES: Readonly<Record<BlockSummary['kind'], string>> = {
  system: 'System',
  tool: 'Tool',
  instructions: 'Instructions',
  user: 'User',
  file: 'File',
  result: 'Result',
  thinking: 'Thinking',
  text: 'Model',
  call: 'Call',
  media: 'Media',
  settings: 'Settings',
  other: 'Body',
}

function BlockText({ id, block }: { readonly id: number; readonly block: BlockSummary }) {
  const loaded = useSignal<string | undefined>(undefined)
  const total = useSignal(block.chars)
  const text = loaded.value ?? block.preview
  const { kind, label, flaw, side } = block
  const isNamed = label !== ROLES[kind] && label !== 'System prompt'
  const rest = total.value - text.length
  const load = async (): Promise<void> => {
    const from = loaded.value?.length ?? 0
    const slice = await fetchJson<TextSlice>(`exchanges/${id}/blocks/${block.index}?from=${from}`)
    loaded.value = (loaded.value ?? '') + slice.text
    total.value = slice.total
  }
  return (
    <div
      class={`turn of-${kind} ${side === 'response' ? 'answer' : ''} ${flaw === undefined ? '' : 'flawed'}`}
      data-kind={kind}
    >
      <span class="role">
        {ROLES[kind]}
        <span class="size muted">{formatCount(block.tokens)} tok</span>
      </span>
      <div class="content">
        {isNamed && <div class="label mono">{toVisibleText(label)}</div>}
        {flaw !== undefined && <div class="bad-text">{toVisibleText(flaw)}</div>}
        <div class={kind === 'call' || kind === 'result' || kind === 'file' ? 'text mono' : 'text'}>
          {toVisibleText(text)}
        </div>
        {rest > 0 &&
          block.preview.length > 0 &&
          kind !== 'media' &&
          (kind !== 'thinking' || block.preview.length >= 1200) && (
            <button class="link" onClick={() => void load()}>
              Show more ({formatCount(rest)} characters)
            </button>
          )}
      </div>
    </div>
  )
}
