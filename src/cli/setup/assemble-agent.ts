import { randomBytes } from 'node:crypto'
import { mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { DelegateOptions } from '../../acp/client/delegate-tool.ts'
import type { WrapHost } from '../../acp/setup.ts'
import type { AgentContext } from '../../agent/agent-context.ts'
import { createToolContext } from '../../agent/calls/tool-context.ts'
import { formatEnvironmentMessage } from '../../agent/prompt/environment-message.ts'
import { createBackgroundRuns } from '../../agent/subagents/background-runs.ts'
import { callHook } from '../../agent/hooks/call-hook.ts'
import { createSeenFiles } from '../../agent/calls/seen-files.ts'
import { withCommandRecording } from '../../agent/record-command-changes.ts'
import { createChangeRecorder } from '../../agent/apply-undo.ts'
import { createTurnKey } from '../../model/ids.ts'
import type { ApprovalMode, Policy } from '../../policy/policy.ts'
import { withUrlGuard } from '../../policy/url/url-guard.ts'
import { systemClock, type Model } from '../../provider/index.ts'
import type { Entry } from '../../session/log/entry.ts'
import { createSessionNotices } from '../../session/session-notices.ts'
import { resumeSession } from '../../session/session.ts'
import { jsonlStore } from '../../session/store/jsonl-store.ts'
import { memoryStore } from '../../session/store/memory-store.ts'
import { getDiskFullReason, createWriteError } from '../../session/store/errors.ts'
import { type SessionLog, type SessionSummary, type Store, StoreError } from '../../session/store/store.ts'
import type { McpServerConfig } from '../../tool/mcp/client/server-config.ts'
import type { ElicitationView } from '../../tool/mcp/connection/request-handler.ts'
import type { Tool } from '../../tool/tool.ts'
import { createToolbox } from '../../tool/toolbox.ts'
import type { RunArgs } from '../args/run-args.ts'
import { createLazyCatalog } from './catalog.ts'
import type { ChosenModel } from './choose-model.ts'
import type { Settings } from '../config/read-settings.ts'
import { openCommandHooks } from '../hooks/open-hooks.ts'
import type { Config } from '../config/schema.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import { formatFolderTree, readInstructions } from './instructions.ts'
import { setSessionLogPath } from '../crash-report.ts'
import { describeDiskError, ensurePrivateFolder } from '../../host/files/private-folder.ts'
import { getMemoryFilePath, getSessionsFolder, getWriteLocksFolder } from '../paths/folders.ts'
import { createAccessRulesFromSettings, createPoliciesFromSettings, listSecretFilePatterns } from './policies.ts'
import { withNestedInstructions } from './nested-instructions.ts'
import { loadSkillCatalog } from './skill-catalog.ts'
import { loadSystemPrompt } from './system-prompt.ts'
import { createPromptGrants } from '../prompt-files/prompt-grants.ts'
import { requireSandbox, toSandboxOptions } from './sandbox-options.ts'
import { createSessionUrlGuard, createLazyWeb, createWebToolOptions } from './web-tools.ts'
import { defined } from '../../model/defined.ts'

/** An agent that is ready to run. */
export type AssembledAgent = Awaited<ReturnType<typeof assembleAgent>>

/** What a front end adds to an agent. */
export interface AgentExtension {
  /** Replaces files and commands of the local host. */
  readonly wrapHost?: WrapHost
  /** Servers beside those of the settings. */
  readonly mcpServers?: Readonly<Record<string, McpServerConfig>>
  /** Shows the questions of MCP servers; without it they are approval requests. */
  readonly elicitationView?: ElicitationView
  /** Opens another model under the limits of the run, for a subagent. */
  readonly openModel?: (name: string) => Promise<ChosenModel>
}

export async function assembleAgent(
  args: RunArgs,
  settings: Settings,
  model: Model,
  ask?: AgentContext['requestApproval'],
  extension: AgentExtension = {},
) {
  const { config } = settings
  const folder = resolveWorkFolder(args)
  const folders = [folder, ...args.directories.map((one) => requireFolder(resolve(folder, one)))]
  const system = loadSystemPrompt(args)
  const store = args.noSession ? memoryStore() : jsonlStore(getSessionsFolder(folder))
  const { session, scratch, notices } = await openSession(args, store, folder)
  if (!args.noSession) setSessionLogPath(join(getSessionsFolder(folder), `${session.id}.jsonl`))
  try {
    const { localHost } = await import('../../host/local-host.ts')
    const { builtinTools } = await import('../../tool/builtin/index.ts')
    const memory = getMemoryFilePath()
    const { withChangeRecording } = await import('../../host/files/record-changes.ts')
    const sandboxSettings = toSandboxOptions(args, settings, folder)
    // The host reads `network` for each command.
    const sandbox = { ...sandboxSettings.sandbox }
    const locks = getWriteLocksFolder()
    const skills = await loadSkillCatalog(folder, config)
    const readFolders = skills?.readFolders ?? []
    const local = localHost({
      folders,
      readFolders,
      scratch,
      locks,
      extraFiles: [memory],
      ...sandboxSettings,
      sandbox,
      ...defined({ keepBackground: config.keepBackgroundCommands }),
    })
    const keptCommands = args.resume === undefined ? [] : (local.processes.restoreBackground?.() ?? [])
    await requireSandbox(args, settings, local)
    const guard = createSessionUrlGuard(session, folders, process.env)
    const isSandboxed = async () => (await local.sandbox()).isActive
    const wrapped = extension.wrapHost?.(local, { isSandboxed, scratch })
    const record = createChangeRecorder(session, store)
    let snapshots: { close(): void } | undefined
    const createSnapshots = async () => {
      const { createWorkspaceSnapshots } = await import('../../host/files/workspace-snapshot.ts')
      const { createHelperlessGitEnvironment } = await import('../../host/process/helperless-git-environment.ts')
      const created = createWorkspaceSnapshots(folder, { env: createHelperlessGitEnvironment(scratch), scratch })
      snapshots = created
      return created
    }
    const host = {
      ...withCommandRecording(withChangeRecording({ ...local, ...wrapped }, record), { createSnapshots, record }),
      web: createLazyWeb(guard, process.env),
    }
    const policyOptions = { folders: [...folders, scratch], readFolders, sandboxed: isSandboxed }
    const createPolicies = (rules: readonly string[]) =>
      createPoliciesFromSettings(
        settings,
        { ...policyOptions, allowed: [...args.allowedTools, ...rules] },
        args.disallowedTools,
      )
    const policies = createPolicies([])
    const grants = createPromptGrants(session, createPolicies, async (items) =>
      (await import('./allowed-tools.ts')).toAllowRules(items, folder),
    )
    const mode = createModePolicy(args.approvalMode ?? config.approvalMode ?? 'default', (one) =>
      withUrlGuard(grants.apply(one, policies(one)), guard),
    )
    const createId = (): string => createTurnKey(randomBytes(20))
    let current = model
    const web = createWebToolOptions(() => current, createId, config.search, process.env)
    // The model corrects edits that do not match.
    const selfCorrect = config.selfCorrect &&
      web.model && { selfCorrect: (await import('../../tool/edit/correct-edit.ts')).createEditCorrector(web.model) }
    const plan = ask !== undefined || mode.get() === 'plan'
    const delegates = await createDelegates(config.acpAgents, {
      requestApproval: ask,
      policy: mode.policy,
      createId,
      env: process.env,
      openProcess: (program, listener) => local.stdioProcesses.open(program, listener),
    })
    const { createSubagents } = await import('./subagents.ts')
    const createSessionId = newSessionId
    const subagents = createSubagents({ folder, store, createSessionId, openModel: extension.openModel })
    const { task } = subagents
    const transcript = args.noSession ? undefined : join(getSessionsFolder(folder), `${session.id}.jsonl`)
    const hooks = await openCommandHooks(settings, folder, {
      processes: local.stdioProcesses,
      transcript,
      getMode: mode.get,
    })
    const builtins = [
      ...builtinTools({
        memory,
        web,
        plan,
        task,
        dialog: true,
        background: host.processes.start !== undefined,
        secretFiles: listSecretFilePatterns(settings),
        ...selfCorrect,
        ...(skills && { skills: skills.withGrants(grants) }),
      }),
      ...delegates,
    ]
    const named = args.mcpConfigs && (await import('./mcp-config-option.ts')).readMcpConfigs(args.mcpConfigs, folder)
    const mcpServers = { ...config.mcpServers, ...named, ...extension.mcpServers }
    const { createMcpRuntime } = Object.keys(mcpServers).length > 0 ? await import('./mcp-runtime.ts') : {}
    const { elicitationView } = extension
    const mcpOptions = { folders, host: local, model, createId, builtinTools: builtins, ask, elicitationView }
    const mcp = createMcpRuntime?.(mcpServers, mcpOptions)
    const agent: AgentContext = {
      session,
      model,
      toolbox: withNestedInstructions(mcp?.toolbox ?? createToolbox(builtins), session, folder),
      policy: mode.policy,
      sandboxAccess: createAccessRulesFromSettings(settings, [...folders, scratch], () => local.sandbox()),
      mode,
      host,
      folders,
      seenFiles: createSeenFiles(),
      system,
      describeEnvironment: () => describeEnvironment(folders),
      limits: defined({ turns: args.maxTurns }),
      catalog: createLazyCatalog(config),
      clock: systemClock,
      createId,
      background: createBackgroundRuns(),
      stopRequest: {},
      ...defined({ hooks: hooks.hooks }),
      writeOverflowFile: async (name, text) => {
        const path = join(scratch, name.replace(/[^A-Za-z0-9._-]/g, '_'))
        writeFileSync(path, text, { mode: 0o600 })
        return Promise.resolve(path)
      },
      onRequestSent: () => local.processes.onIdle?.(),
      ...defined({ diagnoseCache: config.cacheDiagnosis }),
      ...(config.compression?.share !== undefined && { compaction: { share: config.compression.share } }),
      ...defined({ requestApproval: ask }),
    }
    if (session.turns.length === 0 && args.allFiles) {
      const files = await readAllFiles(agent, builtins)
      if (files !== undefined) session.append({ kind: 'note', text: files })
    }
    return {
      agent,
      /** Messages for the user before the start, such as about damage in the log. */
      notices: [
        ...settings.notices,
        ...subagents.notices,
        ...hooks.notices,
        ...notices,
        ...keptCommands.map(({ id, command }) => `Still running since this session was left: ${id} ${command}`),
      ],
      /** What goes on after the session, for its last words. */
      listKeptCommands: () =>
        (local.processes.listBackground?.() ?? []).filter(({ isKept, end }) => isKept && end === undefined),
      hooks: hooks.list,
      agents: subagents.agents,
      mcp,
      /** What commands and skills allow while their prompt is worked on. */
      grants,
      /** Tools and MCP servers use this model from here on. */
      useModel(next: Model): void {
        current = next
        mcp?.useModel(next)
      },
      sandbox: { state: () => local.sandbox(), setNetwork: (isOpen: boolean) => void (sandbox.network = isOpen) },
      /** Closes the session at once; MCP servers get time to exit by themselves. */
      async close(reason?: 'exit'): Promise<void> {
        if (reason !== 'exit' && agent.hooks?.sessionEnd)
          await callHook(agent, 'sessionEnd', { reason: 'other' }, AbortSignal.timeout(SESSION_END_MS), () => undefined)
        void agent.background?.stop()
        snapshots?.close()
        if (!mcp) host.close()
        // Not awaited before the rest: this is also called when the process exits, and then nothing is done later.
        const closed = session.close()
        if (args.noSession) rmSync(scratch, { recursive: true, force: true })
        await subagents.close()
        if (!mcp) return closed
        // No server may outlive this process.
        const atExit = (): void => host.close()
        process.once('exit', atExit)
        await mcp.servers.close()
        process.off('exit', atExit)
        host.close()
        return closed
      },
    }
  } catch (error) {
    await session.close()
    throw error instanceof StoreError ? toUserError(error) : error
  }
}

/** No hook may keep a program from ending. */
const SESSION_END_MS = 10_000

/** The tools that hand tasks to other agents; loaded only if there are any. */
async function createDelegates(agents: Config['acpAgents'] = {}, options: DelegateOptions): Promise<readonly Tool[]> {
  if (Object.keys(agents).length === 0) return []
  return (await import('../../acp/client/delegate-tool.ts')).createDelegateTools(agents, options)
}

/** The approval mode of a session, and a policy that follows it. */
function createModePolicy(first: ApprovalMode, policyFor: (mode: ApprovalMode) => Policy) {
  let mode = first
  const currentPolicy = (): Policy => policyFor(mode)
  return {
    get: () => mode,
    set: (next: ApprovalMode) => void (mode = next),
    policy: {
      decide: (proposal) => currentPolicy().decide(proposal),
      prepare: async (proposal) => currentPolicy().prepare?.(proposal),
      offers: async (proposal) => (await currentPolicy().offers?.(proposal)) ?? [],
      remember: (proposal, grant, scope) => currentPolicy().remember(proposal, grant, scope),
      sessionGrants: () => currentPolicy().sessionGrants?.() ?? [],
      revoke: (grant) => currentPolicy().revoke?.(grant),
      forget: (rule, verdict) => currentPolicy().forget?.(rule, verdict),
    } satisfies Policy,
  }
}

/** Opens a new session, a resumed one or a fork, with a folder for the files beside its log. */
async function openSession(args: RunArgs, store: Store, folder: string) {
  let log: SessionLog | undefined
  try {
    if (!args.noSession) ensurePrivateFolder(getSessionsFolder(folder))
    log = await openSessionLog(args, store, folder)
    const scratch = args.noSession
      ? mkdtempSync(join(realpathSync(tmpdir()), 'dragoman-'))
      : join(getSessionsFolder(folder), 'scratch', log.id)
    ensurePrivateFolder(scratch)
    const notices = args.resume === undefined ? [] : createSessionNotices(log)
    const { listAllBuiltins } = await import('../../tool/builtin/index.ts')
    const isSafeToRetry = ({ name }: { readonly name: string }): boolean =>
      listAllBuiltins().some(({ spec, safeToRetry }) => spec.name === name && safeToRetry === true)
    return { session: resumeSession(log, { isSafeToRetry }), scratch, notices }
  } catch (error) {
    await log?.close()
    if (error instanceof StoreError) throw toUserError(error)
    if (getDiskFullReason(error) !== undefined) throw toUserError(createWriteError(log?.id ?? '', error, false))
    if (error instanceof Error && 'code' in error && !(error instanceof UserError)) {
      throw new UserError(
        `sessions cannot be saved in ${getSessionsFolder(folder)}: ${describeDiskError(error)}; set XDG_DATA_HOME to another folder, or use --no-session`,
        EXIT_CODE.config,
      )
    }
    throw error
  }
}

function toUserError({ message, isDiskError }: StoreError): UserError {
  return isDiskError ? new UserError(message, EXIT_CODE.config) : new UserError(message)
}

/** Runs a command on the session store, whose errors the user can fix. */
export async function withStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof StoreError ? new UserError(error.message) : error
  }
}

async function openSessionLog(args: RunArgs, store: Store, folder: string): Promise<SessionLog> {
  if (args.fork !== undefined) {
    const [, name = args.fork, message] = /^(.*)@(\d+)$/.exec(args.fork) ?? []
    const session = await findSessionId(name, store)
    const seq = findForkPoint((await store.read(session)).entries, message)
    return store.create({ id: newSessionId(), folder, parent: { session, seq } })
  }
  return args.resume === undefined
    ? store.create({ id: newSessionId(), folder })
    : store.open(await findSessionId(args.resume, store), { takeOver: args.takeOver ?? false })
}

/** The last entry that a fork shares: the last of all, or the one before the user message with this number. */
function findForkPoint(entries: readonly Entry[], message: string | undefined): number {
  if (message === undefined) return entries.at(-1)?.seq ?? 0
  const userEntries = entries.filter((entry) => entry.kind === 'user')
  const first = userEntries[Number(message) - 1]
  if (!first)
    throw new UserError(`the session has no message ${message} of yours; the last one is ${userEntries.length}`)
  return entries[entries.indexOf(first) - 1]?.seq ?? 0
}

export async function findSessionId(name: string, store: Store): Promise<string> {
  return (await findSessionSummary(name, store)).id
}

/** Finds a session by `latest`, its id, or the beginning of its id. */
export async function findSessionSummary(name: string, store: Store): Promise<SessionSummary> {
  const all = await store.list()
  const first = all.find(({ subagent }) => subagent === undefined)
  if (name === 'latest' && !first) throw new UserError('this folder has no sessions yet')
  const found = name === 'latest' && first ? [first] : all.filter(({ id }) => id.startsWith(name))
  if (found.length === 1 && found[0]) return found[0]
  throw new UserError(
    found.length === 0
      ? `this folder has no session ${name}; list them with dragoman sessions list`
      : `${name} matches ${found.length} sessions; use more characters of the id`,
  )
}

/** The time, and a random suffix. */
export function newSessionId(): string {
  const time = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
  return `${time}-${createTurnKey(randomBytes(20)).slice(0, 6)}`
}

export function resolveWorkFolder(args: Pick<RunArgs, 'cwd'>): string {
  return requireFolder(resolve(args.cwd ?? '.'))
}

function requireFolder(folder: string): string {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError(`the folder ${folder} does not exist`)
  return folder
}

async function readAllFiles(agent: AgentContext, tools: readonly Tool[]): Promise<string | undefined> {
  const tool = tools.find(({ spec }) => spec.name === 'read_many_files')
  const context = createToolContext(agent, new AbortController().signal, () => undefined)
  const output = await tool?.run({ paths: ['**/*'] }, context)
  return typeof output?.content === 'string' && !output.error ? `All files:\n${output.content}` : undefined
}

function describeEnvironment(folders: readonly string[]): ReturnType<NonNullable<AgentContext['describeEnvironment']>> {
  const folder = folders[0] ?? '.'
  const { files, memories, notices } = readInstructions(folder)
  const text = formatEnvironmentMessage({
    date: new Date().toDateString(),
    platform: `${process.platform} ${process.arch}`,
    folders,
    tree: formatFolderTree(folder),
    instructions: files,
    memories,
  })
  return { text, notices }
}
