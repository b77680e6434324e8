import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Kind } from '../line/options.ts'

/** Something that could stand at a place, and what it is. */
export interface Candidate {
  readonly value: string
  readonly about?: string
}

/** The names of a kind that begin like a word. What cannot be found out is left out: nobody wants an error for a Tab. */
export async function namesOf(
  from: readonly string[] | Kind | undefined,
  word: string,
  folder: string,
): Promise<readonly Candidate[]> {
  if (from === undefined) return []
  if (typeof from === 'object') return from.map((value) => ({ value }))
  try {
    return await NAMES[from](word, folder)
  } catch {
    return []
  }
}

const NAMES: Readonly<Record<Kind, (word: string, folder: string) => Promise<readonly Candidate[]>>> = {
  file: () => Promise.resolve([{ value: '@files' }]),
  folder: () => Promise.resolve([{ value: '@folders' }]),
  model: models,
  provider: async () => (await providers()).map((value) => ({ value })),
  session: sessions,
  tool: tools,
}

/** Providers first; behind the slash, the models that are known. Behind a comma the next one begins. */
async function models(word: string): Promise<Candidate[]> {
  const start = word.lastIndexOf(',') + 1
  const [provider = '', model] = word.slice(start).split('/', 2)
  const found =
    model === undefined
      ? [...(await providers()), 'rehearsal'].map((id) => `${id}/`)
      : (await modelsOf(provider)).map((id) => `${provider}/${id}`)
  return found.map((value) => ({ value: word.slice(0, start) + value }))
}

async function modelsOf(provider: string): Promise<string[]> {
  if (provider === 'rehearsal') return Object.keys((await import('../../rehearsal/scripts/scripts.ts')).SCRIPTS)
  const { openCatalog } = await import('../../provider/catalog.ts')
  const { newestFirst } = await import('../../provider/newest.ts')
  const { rows } = await import('../../provider/table.ts')
  const known = openCatalog().models(provider)
  const usual = rows.find(({ id }) => id === provider)?.model
  return newestFirst([...new Set([...(usual === undefined ? [] : [usual]), ...known.map(({ id }) => id)])], usual)
}

async function providers(): Promise<string[]> {
  const { rows } = await import('../../provider/table.ts')
  return rows.map(({ id }) => id)
}

/** By the names of their files alone, the newest first: reading the logs would take longer than a person waits for a Tab. */
async function sessions(_word: string, folder: string): Promise<Candidate[]> {
  const { sessionsFolder } = await import('../own/places.ts')
  const files = readdirSync(sessionsFolder(resolve(folder))).filter((name) => name.endsWith('.jsonl'))
  const ids = files.map((name) => name.slice(0, -'.jsonl'.length)).toSorted()
  return ['latest', ...ids.toReversed()].map((value) => ({ value }))
}

async function tools(): Promise<Candidate[]> {
  const { builtinTools } = await import('../../tool/builtin/index.ts')
  // All of them, also those that only some machines have.
  const model = { can: ['google_search'] as const, ask: () => Promise.resolve({ problem: 'nobody is asked' }) }
  return builtinTools({ memory: 'memory', web: { model }, plan: true }).map(({ spec }) => ({ value: spec.name }))
}
