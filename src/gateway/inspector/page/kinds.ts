import type { BlockKind } from '../inspected-exchange.ts'

export const KIND_NAMES: Readonly<Record<BlockKind, string>> = {
  tool: 'Tool declarations',
  system: 'System prompt',
  instructions: 'Instructions',
  user: 'User',
  file: 'Files read',
  result: 'Results',
  thinking: 'Thinking',
  text: 'Text of the model',
  call: 'Calls',
  media: 'Media',
  other: 'Other',
  settings: 'Settings',
}

/** In the order in which they are stacked. */
export const KINDS = (Object.keys(KIND_NAMES) as BlockKind[]).filter((kind) => kind !== 'settings')
