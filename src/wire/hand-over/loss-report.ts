import type { Warning } from '../../model/event.ts'

/** The kinds of content that can be lost when a request goes to another API. */
export type LossKind = keyof typeof SENTENCES

/** Counts what is lost, by kind and by the API that it is of. */
export interface LossReport {
  /** `place` is where it stands, if it stands in the history. */
  add(kind: LossKind, source: string, name: string, place?: string): void
  /** One warning for each kind and API, in the order in which they were found. */
  list(): Warning[]
}

interface Losses {
  readonly kind: LossKind
  readonly source: string
  readonly counts: Map<string, number>
  readonly place: string | undefined
}

export function createLossReport(): LossReport {
  const groups = new Map<string, Losses>()
  return {
    add(kind, source, name, place) {
      const key = `${kind} ${source}`
      const group = groups.get(key) ?? { kind, source, counts: new Map(), place }
      groups.set(key, group)
      group.counts.set(name, (group.counts.get(name) ?? 0) + 1)
    },
    list: () => [...groups.values()].map(formatLosses),
  }
}

function formatLosses({ kind, source, counts, place }: Losses): Warning {
  const names = [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count} times)`))
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const where = place === undefined ? '' : total === 1 ? `, in ${place}` : `, first in ${place}`
  return { code: `lost-${kind}`, message: `${SENTENCES[kind](source)}: ${names.join(', ')}${where}.` }
}

const SENTENCES = {
  items: (source: string) => `Content that only ${source} understands was left out`,
  fields: (source: string) => `Details that only ${source} understands were left out`,
  reasoning: (source: string) => `Reasoning of ${source} was left out, because only the model that made it can read it`,
  'tool-fields': (source: string) => `Details of tools that only ${source} understands were left out`,
  'note-fields': (source: string) => `Details of system messages that only ${source} understands were left out`,
  grammars: (source: string) =>
    `${source} has no tools with free text here; these get one string argument, and their grammar is only described`,
  refusals: (source: string) => `${source} does not mark refusals here; sent as text`,
  names: (source: string) => `${source} takes these media without the name of the file`,
  media: (source: string) => `${source} does not take these media here; a sentence stands in their place`,
  notes: (source: string) =>
    `${source} takes no system messages inside the history here; sent as a message of the user`,
  options: (source: string) => `Fields of ${source} that have no counterpart were left out`,
  settings: (source: string) => `Settings that ${source} does not have here were left out`,
  'server-tools': (source: string) => `Tools that ${source} cannot run were left out`,
  previous: (source: string) => `The earlier turns are stored by ${source} and were left out; its id of the response`,
} as const
