import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CompletionKind } from '../../args/options.ts'

export interface CompletionCandidate {
  readonly value: string
  readonly about?: string
}

export type CompletionSource = readonly string[] | CompletionKind | undefined

/** The candidates for a word. Errors are ignored: pressing Tab must never print one. */
export async function findCandidates(
  from: CompletionSource,
  word: string,
  folder: string,
): Promise<readonly CompletionCandidate[]> {
  if (from === undefined) return []
  if (typeof from === 'object') return from.map((value) => ({ value }))
  try {
    return await CANDIDATE_SOURCES[from](word, folder)
  } catch {
    return []
  }
}

const CANDIDATE_SOURCES: Readonly<
  Record<CompletionKind, (word: string, folder: string) => Promise<readonly CompletionCandidate[]>>
> = {
  file: () => Promise.resolve([{ value: '@files' }]),
  folder: () => Promise.resolve([{ value: '@folders' }]),
  model: listModelCandidates,
  provider: async () => (await listProviderIds()).map((value) => ({ value })),
  session: listSessionCandidates,
  tool: listToolCandidates,
}

/** Providers first; after the slash, the known models. After a comma the next model begins. */
async function listModelCandidates(word: string): Promise<CompletionCandidate[]> {
  const start = word.lastIndexOf(',') + 1
  const [provider = '', model] = word.slice(start).split('/', 2)
  const found =
    model === undefined
      ? [...(await listProviderIds()), 'rehearsal'].map((id) => `${id}/`)
      : (await listModelIds(provider)).map((id) => `${provider}/${id}`)
  return found.map((value) => ({ value: word.slice(0, start) + value }))
}

async function listModelIds(provider: string): Promise<string[]> {
  if (provider === 'rehearsal')
    return Object.keys((await import('../../../rehearsal/builtin-scripts/all-scripts.ts')).BUILTIN_SCRIPTS)
  const { createCatalog } = await import('../../../provider/catalog.ts')
  const { sortModelsNewestFirst } = await import('../../../provider/model-list.ts')
  const { providers } = await import('../../../provider/index.ts')
  const known = createCatalog().models(provider)
  const defaultModel = providers.find(({ id }) => id === provider)?.model
  const ids = [...(defaultModel === undefined ? [] : [defaultModel]), ...known.map(({ id }) => id)]
  return sortModelsNewestFirst([...new Set(ids)], defaultModel)
}

async function listProviderIds(): Promise<string[]> {
  const { providers } = await import('../../../provider/index.ts')
  return providers.map(({ id }) => id)
}

/** By file names alone, newest first: reading the logs would take too long. */
async function listSessionCandidates(_word: string, folder: string): Promise<CompletionCandidate[]> {
  const { getSessionsFolder } = await import('../../paths/folders.ts')
  const files = readdirSync(getSessionsFolder(resolve(folder))).filter((name) => name.endsWith('.jsonl'))
  const ids = files.map((name) => name.slice(0, -'.jsonl'.length)).toSorted()
  return ['latest', ...ids.toReversed()].map((value) => ({ value }))
}

async function listToolCandidates(): Promise<CompletionCandidate[]> {
  const { listAllBuiltins } = await import('../../../tool/builtin/index.ts')
  return listAllBuiltins().map(({ spec }) => ({ value: spec.name }))
}
