import { randomBytes } from 'node:crypto'
import { mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Agent } from '../../agent/agent.ts'
import { contextOf } from '../../agent/execute.ts'
import { contextMessage } from '../../agent/prompt/context.ts'
import { seenFiles } from '../../agent/seen-files.ts'
import { keepIn } from '../../agent/undo.ts'
import { turnKey } from '../../model/ids.ts'
import type { SandboxState } from '../../host/sandbox/sandbox.ts'
import type { ApprovalMode, Policy } from '../../policy/policy.ts'
import { withUrlGuard } from '../../policy/url-guard.ts'
import { systemClock } from '../../provider/clock.ts'
import type { ModelPort } from '../../provider/port.ts'
import type { Entry } from '../../session/entry.ts'
import { noticesOf } from '../../session/notices.ts'
import { takeUp, type Session } from '../../session/session.ts'
import { jsonlStore } from '../../session/store/jsonl.ts'
import { memoryStore } from '../../session/store/memory.ts'
import { fullDisk, unsaved } from '../../session/store/problem.ts'
import { type SessionLog, type SessionSummary, type Store, StoreProblem } from '../../session/store/store.ts'
import type { Tool } from '../../tool/define.ts'
import type { BuiltinOptions, WebToolOptions } from '../../tool/builtin/index.ts'
import { toolbox } from '../../tool/toolbox.ts'
import type { RunArgs } from '../line/args.ts'
import { catalogWith } from './catalog.ts'
import type { Settings } from '../config/read.ts'
import { Complaint, EXIT } from '../exit.ts'
import { folderTree, readInstructions } from './instructions.ts'
import { logIn } from '../last-words.ts'
import type { Mcp } from './mcp.ts'
import { diskReason, makeFolder } from '../own/make-folder.ts'
import { memoryFile, sessionsFolder, writeLocksFolder } from '../own/places.ts'
import { accessRulesFor, policiesFor, secretFilesOf } from './policies.ts'
import { systemPrompt } from './system-prompt.ts'
import { demandSandbox, shutIn } from './shut-in.ts'
import { guardFor, webThrough, webTools } from './web.ts'

/** An agent that is ready to run, and how to put it away. */
export interface Assembled {
  readonly agent: Agent
  /** What the person should know before it starts: damage in the log, and the like. */
  readonly notices: readonly string[]
  /** The servers of the settings, if there are any. */
  readonly mcp?: Mcp
  /** From here on tools and servers put their questions to this model. */
  useModel(model: ModelPort): void
  /** The sandbox that commands run in, and whether they reach the network from there. */
  readonly sandbox: { state(): Promise<SandboxState>; setNetwork(isOpen: boolean): void }
  /** The session is closed at once; servers get a moment to end by themselves. */
  close(): Promise<void>
}

/** Puts an agent together from what a person asked for on the command line. */
export async function assemble(
  args: RunArgs,
  settings: Settings,
  model: ModelPort,
  ask?: Agent['ask'],
): Promise<Assembled> {
  const { config } = settings
  const folder = workFolder(args)
  const folders = [folder, ...args.directories.map((one) => existing(resolve(folder, one)))]
  const system = systemPrompt(args)
  const store = args.noSession ? memoryStore() : jsonlStore(sessionsFolder(folder))
  const { session, scratch, notices } = openSession(args, store, folders)
  if (!args.noSession) logIn(join(sessionsFolder(folder), `${session.id}.jsonl`))
  try {
    const { localHost } = await import('../../host/local.ts')
    const { builtinTools } = await import('../../tool/builtin/index.ts')
    const memory = memoryFile()
    const { keepingFormer } = await import('../../host/keep.ts')
    const confined = shutIn(args, settings, folder)
    let isNetworkOpen = confined.sandbox.network ?? false
    const local = localHost({
      folders,
      scratch,
      locks: writeLocksFolder(),
      ownFiles: [memory],
      ...confined,
      sandbox: {
        ...confined.sandbox,
        get network() {
          return isNetworkOpen
        },
      },
    })
    await demandSandbox(args, settings, local)
    const guard = guardFor(session, folders, process.env)
    const host = { ...keepingFormer(local, keepIn(session, store)), web: webThrough(guard, process.env) }
    const limits = { ...(args.maxTurns !== undefined && { turns: args.maxTurns }) }
    const policies = policiesFor(settings, {
      folders: [...folders, scratch],
      allowed: args.allowedTools,
      sandboxed: async () => (await local.sandbox()).inForce,
    })
    const mode = modes(args.mode ?? config.approvalMode ?? 'default', (one) => withUrlGuard(policies(one), guard))
    const mint = (): string => turnKey(randomBytes(20))
    let current = model
    const web = webTools(() => current, mint, config.search, process.env)
    const selfCorrect = config.selfCorrect ? await corrections(web) : {}
    const plan = ask !== undefined || mode.get() === 'plan'
    const own = builtinTools({ memory, web, plan, secretFiles: secretFilesOf(settings), ...selfCorrect })
    const configs = config.mcpServers ?? {}
    const mcp =
      Object.keys(configs).length === 0
        ? undefined
        : (await import('./mcp.ts')).setUpServers(configs, { folders, host: local, model, mint, own, ask })
    const agent: Agent = {
      session,
      model,
      toolbox: mcp?.toolbox ?? toolbox(own),
      policy: mode.policy,
      sandboxAccess: accessRulesFor(settings, [...folders, scratch], async () => {
        const now = await local.sandbox()
        return now.inForce && !now.network
      }),
      mode,
      host,
      folders,
      seen: seenFiles(),
      system,
      environment: () => describeEnvironment(folders),
      limits,
      catalog: catalogWith(config),
      clock: systemClock,
      mint,
      spill: async (name, text) => {
        const path = join(scratch, name.replace(/[^A-Za-z0-9._-]/g, '_'))
        writeFileSync(path, text, { mode: 0o600 })
        return Promise.resolve(path)
      },
      ...(config.compression?.share !== undefined && { compaction: { share: config.compression.share } }),
      ...(ask && { ask }),
    }
    if (session.turns.length === 0 && args.allFiles) {
      const files = await allFiles(agent, own)
      if (files !== undefined) session.append({ kind: 'note', text: files })
    }
    return {
      agent,
      notices: [...settings.notices, ...notices],
      ...(mcp && { mcp }),
      useModel(next) {
        current = next
        mcp?.useModel(next)
      },
      sandbox: { state: () => local.sandbox(), setNetwork: (isOpen) => void (isNetworkOpen = isOpen) },
      async close() {
        if (!mcp) host.close()
        session.close()
        if (args.noSession) rmSync(scratch, { recursive: true, force: true })
        if (!mcp) return
        // Servers end by themselves if they are let; whatever happens meanwhile, nothing outlives us.
        const atExit = (): void => host.close()
        process.once('exit', atExit)
        await mcp.servers.close()
        process.off('exit', atExit)
        host.close()
      },
    }
  } catch (error) {
    session.close()
    throw error instanceof StoreProblem ? complaintOf(error) : error
  }
}

/** The approval mode of a session, and a policy that always is the one of that mode. */
function modes(
  first: ApprovalMode,
  policyFor: (mode: ApprovalMode) => Policy,
): NonNullable<Agent['mode']> & { readonly policy: Policy } {
  let mode = first
  const made = new Map<ApprovalMode, Policy>()
  const now = (): Policy => {
    const policy = made.get(mode) ?? policyFor(mode)
    made.set(mode, policy)
    return policy
  }
  return {
    get: () => mode,
    set: (next) => void (mode = next),
    policy: {
      decide: (proposal) => now().decide(proposal),
      offers: async (proposal) => (await now().offers?.(proposal)) ?? [],
      remember: (proposal, grant, scope) => now().remember(proposal, grant, scope),
      sessionGrants: () => now().sessionGrants?.() ?? [],
      revoke: (grant) => now().revoke?.(grant),
      forget: (rule, verdict) => now().forget?.(rule, verdict),
    },
  }
}

/** Edits that do not fit are put right by the model, where the person wants that. */
async function corrections({ model }: WebToolOptions): Promise<Pick<BuiltinOptions, 'selfCorrect'>> {
  const { correctBy } = await import('../../tool/edit/self-correct.ts')
  return model ? { selfCorrect: correctBy(model) } : {}
}

/** A session, with a folder for what it leaves beside its log. */
interface Begun {
  readonly session: Session
  readonly scratch: string
  readonly notices: readonly string[]
}

/** The session that was asked for: a new one, one to go on with, or a branch of one. */
function openSession(args: RunArgs, store: Store, folders: readonly string[]): Begun {
  const [folder = '.'] = folders
  let log: SessionLog | undefined
  try {
    if (!args.noSession) makeFolder(sessionsFolder(folder))
    log = logFor(args, store, folder)
    const scratch = args.noSession
      ? mkdtempSync(join(realpathSync(tmpdir()), 'dragoman-'))
      : join(sessionsFolder(folder), 'scratch', log.id)
    makeFolder(scratch)
    const session = takeUp(log)
    return { session, scratch, notices: args.resume === undefined ? [] : noticesOf(log) }
  } catch (error) {
    log?.close()
    if (error instanceof StoreProblem) throw complaintOf(error)
    if (fullDisk(error) !== undefined) throw complaintOf(unsaved(log?.id ?? '', error, false))
    if (error instanceof Error && 'code' in error && !(error instanceof Complaint)) {
      throw new Complaint(
        `sessions cannot be kept in ${sessionsFolder(folder)}: ${diskReason(error)}; set XDG_DATA_HOME to another folder, or keep none with --no-session`,
        EXIT.config,
      )
    }
    throw error
  }
}

function complaintOf({ message, isOfDisk }: StoreProblem): Complaint {
  return isOfDisk ? new Complaint(message, EXIT.config) : new Complaint(message)
}

function logFor(args: RunArgs, store: Store, folder: string): SessionLog {
  if (args.fork !== undefined) {
    const [, name = args.fork, message] = /^(.*)@(\d+)$/.exec(args.fork) ?? []
    const session = sessionNamed(name, store)
    const seq = branchPoint(store.read(session).entries, message)
    return store.create({ id: newId(), folder, parent: { session, seq } })
  }
  return args.resume === undefined
    ? store.create({ id: newId(), folder })
    : store.open(sessionNamed(args.resume, store), { takeOver: args.takeOver ?? false })
}

/** The last entry that a branch shares: the last of all, or the one before the message of the person with this number. */
function branchPoint(entries: readonly Entry[], message: string | undefined): number {
  if (message === undefined) return entries.at(-1)?.seq ?? 0
  const said = entries.filter((entry) => entry.kind === 'user')
  const first = said[Number(message) - 1]
  if (!first)
    throw new Complaint(`there is no message ${message} of yours in that session; the last one is ${said.length}`)
  return entries[entries.indexOf(first) - 1]?.seq ?? 0
}

/** The id that a person means: `latest`, an id, or the beginning of one. */
export function sessionNamed(name: string, store: Store): string {
  return summaryNamed(name, store).id
}

/** The session that a person means, as a list shows it. */
export function summaryNamed(name: string, store: Store): SessionSummary {
  const all = store.list()
  if (name === 'latest') {
    const latest = all[0]
    if (!latest) throw new Complaint('there is no session in this folder yet')
    return latest
  }
  const found = all.filter(({ id }) => id.startsWith(name))
  if (found.length === 1 && found[0]) return found[0]
  throw new Complaint(
    found.length === 0
      ? `there is no session ${name} in this folder; dragoman sessions list shows them`
      : `${name} could be any of ${found.length} sessions; give more of the id`,
  )
}

/** A new name for a session: when it began, and something that no other has. */
export function newId(): string {
  const time = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
  return `${time}-${turnKey(randomBytes(20)).slice(0, 6)}`
}

/** The folder to work in. */
export function workFolder(args: Pick<RunArgs, 'cwd'>): string {
  return existing(resolve(args.cwd ?? '.'))
}

function existing(folder: string): string {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new Complaint(`there is no folder ${folder}`)
  return folder
}

/** All files of the folders, as far as they are text and there is room for them. */
async function allFiles(agent: Agent, tools: readonly Tool[]): Promise<string | undefined> {
  const tool = tools.find(({ spec }) => spec.name === 'read_many_files')
  const context = contextOf(agent, new AbortController().signal, () => undefined)
  const output = await tool?.run({ paths: ['**/*'] }, context)
  return typeof output?.content === 'string' && !output.error ? `All files:\n${output.content}` : undefined
}

function describeEnvironment(folders: readonly string[]): ReturnType<NonNullable<Agent['environment']>> {
  const folder = folders[0] ?? '.'
  const { files, memories, notices } = readInstructions(folder)
  const text = contextMessage({
    date: new Date().toDateString(),
    platform: `${process.platform} ${process.arch}`,
    folders,
    tree: folderTree(folder),
    instructions: files,
    ...(memories && { memories }),
  })
  return { text, notices }
}
