import type { ModelPort } from '../../provider/port.ts'
import { defaultModel, findLocal, type Problem, resolveModel } from '../../provider/resolve.ts'
import type { Row } from '../../provider/row.ts'
import { rowFrom } from '../../provider/row-from.ts'
import { port, probe, sharedPost } from '../../provider/send.ts'
import { rows as table } from '../../provider/table.ts'
import type { Target } from '../../provider/target.ts'
import { limitsFor, SILENCE } from '../../provider/watch.ts'
import { remember } from '../../provider/wrap/remember.ts'
import { retry } from '../../provider/wrap/retry.ts'
import { serverWindow } from '../../provider/wrap/server-window.ts'
import { bodyWriter } from '../../wire/incremental.ts'
import { catalogWith, costLimit } from './catalog.ts'
import type { Config } from '../config/schema.ts'
import { Complaint, EXIT } from '../exit.ts'
import { learntFacts } from '../own/profiles.ts'
import { isRehearsal, startRehearsed } from './rehearsed.ts'
import { signIns } from '../sign-in/sign-ins.ts'
import type { Tap } from '../tape/tap.ts'

/** A model that can be asked, and how to put it away. */
export interface Chosen {
  readonly port: ModelPort
  /** What the person should know of the choice. */
  readonly notices?: readonly string[]
  close(): Promise<void>
}

/** What else decides about a model. */
export interface Choice {
  /** The model that the session had, to go on with if no other is named. */
  readonly recalled?: string | undefined
  /** In US dollars. */
  readonly maxCost?: number | undefined
  /** Watches what goes over the wire. */
  readonly tap?: Tap | undefined
}

/** The model that a name means; without a name, the one that this machine is set up for. */
export async function chooseModel(
  name: string | undefined,
  config: Config = {},
  { recalled, maxCost, tap }: Choice = {},
): Promise<Chosen> {
  const problem = name === undefined && recalled !== undefined ? problemWith(recalled, config)?.problem : undefined
  const chosen = name ?? (problem === undefined ? recalled : undefined) ?? (await configuredModel(config))
  if (chosen === undefined) throw new Complaint(problem ?? NO_MODEL, 41)
  const limited = costLimit(maxCost, catalogWith(config))
  const notices =
    problem === undefined
      ? []
      : [`This session was held with ${recalled}, which cannot be used here: ${problem} Going on with ${chosen}.`]
  const names = usableOf(namesIn(chosen, config), config, (notice) => notices.push(notice))
  const opened: Chosen[] = []
  const close = async (): Promise<void> => void (await Promise.all(opened.map((one) => one.close())))
  try {
    for (const one of names) opened.push(await openNamed(one, config, opener(tap, config)))
    const [main, ...rest] = await Promise.all(
      opened.map(async (one) => retry(await limited(one.port), { total: silenceOf(config) })),
    )
    if (!main) throw new Complaint(NO_MODEL, 41)
    const chain = rest.length === 0 ? main : (await import('../../provider/wrap/fallback.ts')).fallback([main, ...rest])
    return {
      port:
        tap?.noted(
          chain,
          opened.map((one) => one.port.origin),
        ) ?? chain,
      notices,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The models that are meant: `-m a,b,c` is a list, each asked when the one before cannot answer; the settings may name more. */
function namesIn(chosen: string, { fallback = [] }: Config): readonly string[] {
  const named = chosen.split(',').map((one) => one.trim())
  return [...new Set([...named, ...(named.length === 1 ? fallback : [])])].filter((one) => one !== '')
}

/**
 * Those of a list that can be used here; of the others the person is told. If the first one is written wrong, or none is
 * left, that is a complaint about the first.
 */
function usableOf(names: readonly string[], config: Config, told: (notice: string) => void): readonly string[] {
  const judged = names.map((name) => ({ name, trouble: problemWith(name, config) }))
  const usable = judged.flatMap(({ name, trouble }) => (trouble ? [] : [name]))
  const first = judged[0]?.trouble
  if (first && (first.code !== EXIT.signIn || usable.length === 0)) throw new Complaint(first.problem, first.code)
  for (const { name, trouble } of judged) if (trouble) told(`${name} cannot be used here: ${trouble.problem}`)
  return usable
}

/** A model without patience: each attempt is paid for, so each must fit into the limit, which comes before it. */
async function openNamed(name: string, config: Config, open: (target: Target) => ModelPort): Promise<Chosen> {
  if (isRehearsal(name)) {
    const { target: scripted, close } = await startRehearsed(name, 'hello')
    return { port: open(scripted), close }
  }
  const target = targetNamed(name, config)
  if ('problem' in target) throw new Complaint(target.problem, target.code)
  const own = withOwnWindow(target, config)
  const opened = remember(own, open)
  // What the person's settings say of the window goes before what the server says.
  return { port: own === target ? serverWindow(opened, target, sharedPost) : opened, close: () => Promise.resolve() }
}

/** Why a name leads nowhere here. */
function problemWith(name: string, config: Config): Problem | undefined {
  if (isRehearsal(name)) return undefined
  const target = targetNamed(name, config)
  return 'problem' in target ? target : undefined
}

/** Where a name leads here, with the flags that `dragoman doctor` has found out. */
function targetNamed(name: string, config: Config): ReturnType<typeof resolveModel> {
  return resolveModel(name, process.env, rowsWith(config), signIns(), learntFacts)
}

/** What the person's settings say of a model's window comes before what we know of its family. */
function withOwnWindow(target: Target, { catalog = {} }: Config): Target {
  const window = catalog[`${target.row.id}/${target.model}`]?.['window']
  return typeof window === 'number' ? { ...target, profile: { ...target.profile, window } } : target
}

/** Opens ports that do not write again what they have written. */
function opener(tap: Tap | undefined, config: Config): (target: Target) => ModelPort {
  const limits = limitsFor(silenceOf(config))
  return (target) => {
    tap?.aimed(target)
    return port(target, { writer: bodyWriter, limits, ...(tap && { post: tap.post }) })
  }
}

/** How long a request may go without progress, in milliseconds. */
function silenceOf({ requestTimeout }: Config): number {
  return requestTimeout === undefined ? SILENCE : requestTimeout * 1000
}

/** The model of the first key in the environment or of those stored, or of a server that answers on this machine. */
export async function configuredModel(config: Config = {}): Promise<string | undefined> {
  return settledModel(config) ?? (await findLocal(probe, rowsWith(config), process.env))
}

/** The same, without a look for servers. */
export function settledModel(config: Config): string | undefined {
  return (
    process.env['DRAGOMAN_MODEL'] || config.model || defaultModel(process.env, rowsWith(config), signIns()) || undefined
  )
}

/** The table, with the person's own rows before it; one of theirs may change one of ours. */
export function rowsWith({ providers = {} }: Config): readonly Row[] {
  const own = Object.entries(providers).map(([id, json]) => {
    const base = table.find((row) => row.id === id)
    const read = rowFrom(id, json, base)
    if ('problem' in read) throw new Complaint(read.problem, EXIT.config)
    return read.row
  })
  return own.length === 0 ? table : [...own, ...table.filter(({ id }) => !own.some((row) => row.id === id))]
}

const NO_MODEL =
  'no model is configured: set a key (GEMINI_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY, …) or start a local server (Ollama, LM Studio, llama.cpp), or take the tour: dragoman tour'
