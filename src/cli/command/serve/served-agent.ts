import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatEnvironmentMessage } from '../../../agent/prompt/environment-message.ts'
import { type LocalHost, localHost } from '../../../host/local-host.ts'
import { defined } from '../../../model/defined.ts'
import { createTurnKey } from '../../../model/ids.ts'
import { findEnvironmentSecrets } from '../../../model/security/redactor.ts'
import { createUrlGuard, withUrlGuard } from '../../../policy/url/url-guard.ts'
import type { Model } from '../../../provider/index.ts'
import type { AgentSource, ServedAgent, SessionContext } from '../../../server/worker/agent-source.ts'
import { builtinTools, createWebTools } from '../../../tool/builtin/index.ts'
import { createSaveMemoryTool } from '../../../tool/builtin/save-memory.ts'
import type { Tool } from '../../../tool/tool.ts'
import type { Settings } from '../../config/read-settings.ts'
import { getMemoryFilePath, getWriteLocksFolder } from '../../paths/folders.ts'
import { chooseModel, type ChosenModel } from '../../setup/choose-model.ts'
import { formatFolderTree, readInstructions } from '../../setup/instructions.ts'
import { createMcpRuntime } from '../../setup/mcp-runtime.ts'
import { createPoliciesFromSettings, listSecretFilePatterns } from '../../setup/policies.ts'
import { requireSandbox, toSandboxOptions } from '../../setup/sandbox-options.ts'
import { loadSystemPrompt } from '../../setup/system-prompt.ts'
import { createLazyWeb, createWebToolOptions } from '../../setup/web-tools.ts'
import { findTenantAccess, type TenantAccess } from './tenant-access.ts'
import { getStateFolder, type Workspaces } from './workspaces.ts'

interface ServedAgents {
  readonly openAgent: AgentSource
  close(): Promise<void>
}

/**
 * The agent of `dragoman serve`: in a workspace it has the built-in tools, and without one it only talks. Beside them it has the
 * web tools, MCP servers and memory that its tenant may use.
 */
export function createServedAgents(defaultModel: string, settings: Settings, workspaces: Workspaces): ServedAgents {
  const models = new Map<string, Promise<ChosenModel>>()
  const openModel = async (name: string): Promise<ChosenModel> => {
    const opening = models.get(name) ?? chooseModel(name, settings.config)
    models.set(name, opening)
    // A model that could not be opened, such as without a key, is tried again.
    opening.catch(() => models.delete(name))
    return opening
  }

  return {
    async openAgent(session, signal, limitModel) {
      const chosen = await openModel(session.settings.model ?? defaultModel)
      const folder = await workspaces.open(session, signal)
      const access = findTenantAccess(settings, session.tenant)
      const scratch = mkdtempSync(join(realpathSync(tmpdir()), 'dragoman-'))
      const host = createHost(folder ?? scratch, scratch, { settings, workspaces, access, tenant: session.tenant })
      const parts = { session, chosen, limitModel, folder, scratch, host, access, settings }
      try {
        if (folder !== undefined) await requireSandbox({}, settings, host)
        const agent = await createAgentParts(parts, signal)
        return {
          ...agent,
          async close() {
            await agent.close?.()
            host.close()
            rmSync(scratch, { recursive: true, force: true })
          },
        }
      } catch (error) {
        host.close()
        rmSync(scratch, { recursive: true, force: true })
        throw error
      }
    },
    async close() {
      for (const opening of models.values()) await opening.then((one) => one.close()).catch(() => undefined)
    },
  }
}

interface HostOptions {
  readonly settings: Settings
  readonly workspaces: Workspaces
  readonly access: TenantAccess
  readonly tenant: string
}

function createHost(folder: string, scratch: string, options: HostOptions): LocalHost {
  const { settings, workspaces, access, tenant } = options
  const memory = findMemoryFile(access, tenant)
  const { sandbox, ...limits } = toSandboxOptions({}, settings, folder)
  return localHost({
    folders: [folder],
    scratch,
    locks: getWriteLocksFolder(),
    ...(memory !== undefined && { extraFiles: [memory] }),
    ...limits,
    // Of all workspaces, a command sees its own.
    sandbox: {
      ...sandbox,
      emptyFolders: [workspaces.root],
      hiddenFolders: [...(sandbox.hiddenFolders ?? []), getTenantMemoryFolder()],
    },
  })
}

interface AgentParts {
  readonly session: SessionContext
  readonly chosen: ChosenModel
  readonly limitModel: (model: Model) => Model
  /** Undefined if the session has no files. */
  readonly folder: string | undefined
  readonly scratch: string
  readonly host: LocalHost
  readonly access: TenantAccess
  readonly settings: Settings
}

async function createAgentParts(parts: AgentParts, signal: AbortSignal): Promise<ServedAgent> {
  const { session, chosen, limitModel, folder, scratch, host, access, settings } = parts
  const { model } = chosen
  const { effort: reasoningEffort, temperature, topP, maxTokens } = chosen.settings
  const { config } = settings
  const secrets = findEnvironmentSecrets(process.env)
  const guard = createUrlGuard({ secrets: () => secrets })
  const memory = findMemoryFile(access, session.tenant)
  const createId = (): string => createTurnKey(randomBytes(20))
  // What tools ask a model counts towards the quota of the tenant, too.
  const toolModel = limitModel(model)
  const web = access.hasWeb ? createWebToolOptions(() => toolModel, createId, config.search, process.env) : undefined
  const tools: readonly Tool[] =
    folder === undefined
      ? [...(web ? createWebTools(web) : []), ...(memory === undefined ? [] : [createSaveMemoryTool(memory)])]
      : builtinTools({ secretFiles: listSecretFilePatterns(settings), ...defined({ memory, web }) })
  const folders = folder === undefined ? [] : [folder]
  const mcp =
    Object.keys(access.mcpServers).length === 0
      ? undefined
      : createMcpRuntime(access.mcpServers, {
          folders: [folder ?? scratch],
          host,
          model: toolModel,
          createId,
          builtinTools: tools,
          ask: undefined,
          ...(!access.isOwner && { tenant: session.tenant }),
        })
  // A prompt may be one request, and its tools must not be those of the next one.
  const unknown = mcp?.servers.list.filter(({ lists }) => lists.tools.length === 0) ?? []
  const stop = AbortSignal.any([signal, AbortSignal.timeout(MCP_START_MS)])
  await Promise.allSettled(unknown.map((server) => server.ready(stop)))
  const policies = createPoliciesFromSettings(settings, {
    folders: [...folders, scratch],
    sandboxed: async () => (await host.sandbox()).isActive,
  })
  const mode = config.approvalMode ?? 'default'
  const hasTools = tools.length > 0 || mcp !== undefined
  const system = folder === undefined ? (hasTools ? CHAT_WITH_TOOLS_PROMPT : CHAT_PROMPT) : loadSystemPrompt({})
  const instructions = [system, config.server?.instructions].filter((one) => one !== undefined).join('\n\n')
  return {
    options: {
      model,
      instructions,
      tools,
      policy: withUrlGuard(policies(mode === 'plan' ? 'default' : mode), guard),
      host: { ...host, ...(web && { web: createLazyWeb(guard, process.env) }) },
      folders,
      ...defined({ reasoningEffort, temperature, topP, maxTokens }),
    },
    context: {
      ...(mcp && { toolbox: mcp.toolbox }),
      ...((folder !== undefined || hasInstructions(access, memory)) && {
        describeEnvironment: () => describeEnvironment(folder, access, memory),
      }),
    },
    ...(mcp && { close: () => mcp.servers.close() }),
  }
}

/** How long a session waits for MCP servers whose tools are not known yet. */
const MCP_START_MS = 10_000

const CHAT_PROMPT = 'You are a helpful assistant. You have no files and no tools in this conversation.'
const CHAT_WITH_TOOLS_PROMPT =
  'You are a helpful assistant. You have no files in this conversation. Use your tools where they help.'

/** The facts that sessions of this tenant have saved: for who runs the server, those of the command. */
function findMemoryFile({ isOwner, hasMemory }: TenantAccess, tenant: string): string | undefined {
  if (!hasMemory) return undefined
  if (isOwner) return getMemoryFilePath()
  mkdirSync(getTenantMemoryFolder(), { recursive: true, mode: 0o700 })
  return join(getTenantMemoryFolder(), `${tenant}.md`)
}

const getTenantMemoryFolder = (): string => join(getStateFolder(), 'memory')

function hasInstructions({ isOwner }: TenantAccess, memory: string | undefined): boolean {
  const { files, memories } = readInstructions(undefined, { hasOwnFiles: isOwner, memory })
  return files.length > 0 || memories !== undefined
}

/** A tenant reads the instructions of its repository, and only who runs the server also its own files. */
function describeEnvironment(
  folder: string | undefined,
  { isOwner }: TenantAccess,
  memory: string | undefined,
): { text: string; notices: readonly string[] } {
  const { files, memories, notices } = readInstructions(folder, { hasOwnFiles: isOwner, memory })
  const text = formatEnvironmentMessage({
    date: new Date().toDateString(),
    platform: `${process.platform} ${process.arch}`,
    folders: folder === undefined ? [] : [folder],
    ...(folder !== undefined && { tree: formatFolderTree(folder) }),
    instructions: files,
    ...defined({ memories }),
  })
  return { text, notices }
}
